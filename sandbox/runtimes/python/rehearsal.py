import json, re, sys


class Shape:
    sides = 0

    def __init__(self, name, size):
        self.name = name
        self.size = size

    @property
    def area(self):
        return self.size**2 * self.sides / 4

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.size:.2f})"


class Square(Shape):
    sides = 4


def primes(limit):
    found = []
    for n in range(2, limit):
        if all(n % p for p in found):
            found.append(n)
            yield n


def main():
    shapes = [Square(f"square {i}", i * 1.5) for i in range(5)]
    table = {shape.name: shape.area for shape in sorted(shapes, key=lambda s: -s.area)}
    words = re.findall(r"[a-z]+", "to be or not to be".lower())
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    print("shapes", shapes, len(shapes), sum(table.values()))
    print(json.dumps({"table": table, "counts": counts, "list": [1, 2.5, None, True]}, indent=1))
    assert json.loads('{"a": [1, 2.5, "x"], "b": null}')["a"][0] == 1
    with open("/dev/null", "r+") as file:
        file.write("\n".join(map(str, primes(50))))
        total = sum(int(line) for line in file)
    print(f"{total:>10,} {2**64} {total / 7:.3f} {'x' * 10!r:^20}", *words, sep=", ")
    try:
        int("no number")
    except ValueError as error:
        print("error:", error, file=sys.stderr)
    return set(words), tuple(reversed(words)), bytes(10), "ünï".encode().decode()


if __name__ == "__main__":
    main()
    {}["missing"]
