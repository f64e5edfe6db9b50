NUMBER = 0


def primes_below(limit):
    composite = bytearray(limit)
    primes = []
    for number in range(2, limit):
        if composite[number]:
            continue
        primes.append(number)
        for multiple in range(number * number, limit, number):
            composite[multiple] = 1
    return primes


def collatz(number):
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


primes = primes_below(250_000)
longest = max(range(1, 16_000), key=collatz)
print(len(primes), primes[-1], longest, NUMBER % 7)
