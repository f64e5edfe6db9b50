NUMBER = 0


def numbers(start):
    while True:
        yield start
        start += 1


def where(predicate, stream):
    for value in stream:
        if predicate(value):
            yield value


def take(count, stream):
    for _, value in zip(range(count), stream):
        yield value


def running_mean():
    total = count = 0
    mean = None
    while True:
        value = yield mean
        total += value
        count += 1
        mean = total / count


squares = (n * n for n in numbers(NUMBER % 100))
print(list(take(5, where(lambda n: n % 3 == 1, squares))))
mean = running_mean()
next(mean)
print([round(mean.send(value), 3) for value in (10, 20, 5, NUMBER % 7)])


def collatz(n):
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    yield 1


longest = max(range(1, 300), key=lambda n: sum(1 for _ in collatz(n)))
print(longest, list(collatz(longest))[:12])
