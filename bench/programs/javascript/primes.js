const NUMBER = 0;

function sieve(limit) {
	const composite = new Uint8Array(limit + 1);
	const primes = [];
	for (let n = 2; n <= limit; n++) {
		if (composite[n]) continue;
		primes.push(n);
		for (let m = n * n; m <= limit; m += n) composite[m] = 1;
	}
	return primes;
}

function* factors(n) {
	for (let d = 2; d * d <= n; d++) while (n % d === 0) { yield d; n /= d; }
	if (n > 1) yield n;
}

const primes = sieve(2000);
console.log(primes.length, primes.at(-1));
for (const n of [360, 1001, 10000 + (NUMBER % 1000)]) console.log(`${n} = ${[...factors(n)].join(" x ")}`);
