import graphlib
import operator
from collections.abc import MutableSequence, Set

order = graphlib.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"a"}})
print(sorted(order.static_order(), key="abcd".index))
try:
    list(graphlib.TopologicalSorter({"x": {"y"}, "y": {"x"}}).static_order())
except graphlib.CycleError as error:
    print(error.args[0], sorted(set(error.args[1])))
a, b = {1, 2, 3}, frozenset([3, 4])
print(a | b, a & b, a ^ b, a - b, a >= {1}, a.isdisjoint(b), operator.itemgetter(1, 0)("ab"), operator.attrgetter("real")(3))


class Numbers(MutableSequence):
    def __init__(self):
        self.inner = []

    def __getitem__(self, i):
        return self.inner[i]

    def __setitem__(self, i, v):
        self.inner[i] = v

    def __delitem__(self, i):
        del self.inner[i]

    def __len__(self):
        return len(self.inner)

    def insert(self, i, v):
        self.inner.insert(i, v)


numbers = Numbers()
numbers.extend([3, 1, 2])
numbers.reverse()
print(list(numbers), 1 in numbers, numbers.pop(), numbers.index(1), isinstance({}, Set))
print({**{"a": 1}, "b": 2} | {"a": 3}, dict.fromkeys("ab", 0), sorted({"b": 1, "a": 2}.items()), list(reversed({"x": 1, "y": 2})))
