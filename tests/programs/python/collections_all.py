from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple

print(Counter("mississippi").most_common(2), Counter(a=3, b=1) - Counter(a=1, b=2), +Counter(x=-1, y=2))
d = deque(range(5), maxlen=5)
d.append(9)
d.rotate(2)
print(d, d.index(9))
Point = namedtuple("Point", "x y", defaults=[0])
print(Point(1), Point(1, 2)._replace(x=5)._asdict(), Point._fields)
tree = lambda: defaultdict(tree)
root = tree()
root["a"]["b"]["c"] = 1
print(dict(root["a"]["b"]))
od = OrderedDict.fromkeys("cab")
od.move_to_end("c")
print(list(od), od == {"a": None, "b": None, "c": None})
print(ChainMap({"a": 1}, {"a": 2, "b": 3})["b"], dict(ChainMap({"a": 1}, {"a": 2})))


class Upper(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.upper(), value)


print(Upper(a=1, b=2))
