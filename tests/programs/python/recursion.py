import sys

print(sys.getrecursionlimit())


def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


print(900 < depth() < 1000)
sys.setrecursionlimit(5000)
print(4900 < depth() < 5000)


class Odd:
    def __repr__(self):
        return repr(self)


try:
    repr(Odd())
except RecursionError as error:
    print(error)
nested = []
for _ in range(200000):
    nested = [nested]
del nested


def forever(n):
    return forever(n + 1)


forever(0)
