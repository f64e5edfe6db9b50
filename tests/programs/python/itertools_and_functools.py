import functools
import itertools as it
import operator

print(list(it.islice(it.count(10, 3), 4)), list(it.accumulate([1, 2, 3, 4], operator.mul)), list(it.pairwise("abcd")))
print([(k, list(g)) for k, g in it.groupby("aabccc")], list(it.combinations("abc", 2)), len(list(it.permutations(range(6)))))
print(list(it.zip_longest("ab", "xyz", fillvalue="-")), list(it.chain.from_iterable([[1], [2, 3]])), list(it.product("ab", repeat=2)))


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(200), fib.cache_info())


@functools.singledispatch
def show(x):
    return "object"


@show.register
def _(x: int):
    return "int"


@show.register(list)
def _(x):
    return "list of " + ", ".join(map(show, x))


print(show(1), show([1, "a"]), show(2.5))


@functools.total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(map(int, text.split(".")))

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts


print(Version("1.10") > Version("1.9"), functools.reduce(lambda a, b: a * 31 + b, b"hash", 7))
print(functools.partial(int, base=2)("1011"), sorted("bca", key=functools.cmp_to_key(lambda a, b: (a < b) - (a > b))))


class Lazy:
    @functools.cached_property
    def value(self):
        print("computed")
        return 42


lazy = Lazy()
print(lazy.value, lazy.value)
