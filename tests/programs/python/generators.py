def counter(start):
    while True:
        sent = yield start
        start = start + 1 if sent is None else sent


def outer():
    result = yield from inner()
    print("inner returned", result)


def inner():
    try:
        yield 1
        yield 2
    except ValueError as error:
        print("thrown in:", error)
        yield 3
    finally:
        print("cleaned")
    return "value"


c = counter(5)
print(next(c), next(c), c.send(50), next(c))
c.close()
g = outer()
print(next(g), g.throw(ValueError("x")), list(g))
print(sum(x * x for x in range(10) if x % 2), {k: v for k, v in zip("ab", (1, 2))}, [*range(3), *"ab"])


def primes():
    found, n = [], 2
    while True:
        if all(n % p for p in found if p * p <= n):
            found.append(n)
            yield n
        n += 1


from itertools import islice
print(list(islice(primes(), 100))[-1])
try:
    next(iter(()))
except StopIteration as error:
    print("stop", error.value)


def broken():
    yield 1
    raise StopIteration("inside")


list(broken())
