const factorial = (n) => (n < 2n ? 1n : n * factorial(n - 1n));
console.log(factorial(30n), 2n ** 100n, -7n / 2n, -7n % 2n, BigInt('0xff'), BigInt.asUintN(8, 257n), 10n > 9, 1n + BigInt(2));
console.log((123456789012345678901234567890n).toLocaleString('en'), typeof 1n, JSON.stringify({ n: String(5n) }), [3n, 1, 2n].sort().join());
for (const bad of [() => 1n + 1, () => BigInt(1.5), () => Math.max(1n), () => JSON.stringify(1n)]) try { bad(); } catch (error) { console.log(error.constructor.name, error.message); }
