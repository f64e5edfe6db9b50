const NUMBER = 0;

function primesBelow(limit) {
  const composite = new Uint8Array(limit);
  const primes = [];
  for (let number = 2; number < limit; number++) {
    if (composite[number]) continue;
    primes.push(number);
    for (let multiple = number * number; multiple < limit; multiple += number) {
      composite[multiple] = 1;
    }
  }
  return primes;
}

function collatz(number) {
  let steps = 0;
  while (number !== 1) {
    number = number % 2 === 0 ? number / 2 : 3 * number + 1;
    steps++;
  }
  return steps;
}

const primes = primesBelow(2000000);
let longest = 1;
for (let number = 1; number < 90000; number++) {
  if (collatz(number) > collatz(longest)) longest = number;
}
console.log(primes.length, longest, NUMBER % 7);
