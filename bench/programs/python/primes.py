import math

NUMBER = 0


def sieve(limit):
    is_prime = bytearray([1]) * (limit + 1)
    is_prime[0:2] = b"\0\0"
    for n in range(2, math.isqrt(limit) + 1):
        if is_prime[n]:
            is_prime[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, flag in enumerate(is_prime) if flag]


def factors(n):
    found = []
    divisor = 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            found.append(divisor)
            n //= divisor
        divisor += 1
    if n > 1:
        found.append(n)
    return found


primes = sieve(2000)
print(len(primes), "primes below 2000, the last is", primes[-1])
twins = [(a, b) for a, b in zip(primes, primes[1:]) if b - a == 2]
print("twins:", len(twins), twins[:5])
for n in (360, 1001, 9973, 10000 + NUMBER % 1000):
    print(n, "=", " x ".join(map(str, factors(n))))
