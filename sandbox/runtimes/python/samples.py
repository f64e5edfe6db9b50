"""Programs like those that agents send.  The learners run them: see sandbox/footprint.h.

They differ, because a page counts only if three of five touch it.
"""

SAMPLES = (
    b"print(1)\n",
    b"""import json
import sys

people = json.loads('[{"name": "Ann", "age": 31}, {"name": "Bob", "age": 17, "tags": ["a", null, 1.5]}]')
adults = [person["name"] for person in people if person["age"] >= 18]
print(json.dumps({"adults": adults, "count": len(people)}, indent=2, sort_keys=True))
for person in people:
    print(person["name"], person.get("tags", []), file=sys.stdout)
""",
    b"""from collections import Counter, defaultdict

text = "the quick brown fox jumps over the lazy dog and the cat"
words = text.split()
groups = defaultdict(list)
for word in words:
    groups[len(word)].append(word)
print(Counter(words).most_common(3))
for length, group in sorted(groups.items()):
    print(f"{length:>3}: {', '.join(sorted(set(group)))}")
print(" ".join(word.title()[::-1] for word in words if len(word) > 3))
""",
    b"""import re
from datetime import datetime, timedelta

LINE = re.compile(r"(\\d{4}-\\d\\d-\\d\\d) (\\w+): (.*)")
log = "2024-01-02 error: disk full\\n2024-01-03 info: all well\\n2024-02-10 error: no answer"
for match in LINE.finditer(log):
    day, level, message = match.groups()
    when = datetime.strptime(day, "%Y-%m-%d") + timedelta(days=1)
    print(f"{when:%d.%m.%Y} {level.upper():<8}{message!r}")
""",
    b"""from dataclasses import dataclass, field
from typing import List


@dataclass
class Item:
    name: str
    price: float
    tags: List[str] = field(default_factory=list)

    def total(self, count: int) -> float:
        return round(self.price * count, 2)


items = [Item("cup", 2.5), Item("pot", 19.99, ["new"])]
print(items, sum(item.total(3) for item in items))
print(max(items, key=lambda item: item.price))
""",
    b"""class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        if not self._items:
            raise IndexError("the stack is empty")
        return self._items.pop()

    def __len__(self):
        return len(self._items)


stack = Stack()
for value in range(5):
    stack.push(value * value)
try:
    while True:
        print(stack.pop(), len(stack))
except IndexError as error:
    print("error:", error)
""",
    b"""import math


def primes(limit):
    sieve = [True] * (limit + 1)
    for n in range(2, math.isqrt(limit) + 1):
        if sieve[n]:
            for multiple in range(n * n, limit + 1, n):
                sieve[multiple] = False
    return [n for n in range(2, limit + 1) if sieve[n]]


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


print(primes(100))
numbers = fibonacci()
print([next(numbers) for _ in range(20)], math.sqrt(2), math.pi)
""",
    b"""import csv
import io
import statistics

rows = list(csv.DictReader(io.StringIO("city,degrees\\nOslo,4.5\\nRome,17\\nCairo,23.25\\n")))
degrees = [float(row["degrees"]) for row in rows]
print(f"mean {statistics.mean(degrees):.2f} median {statistics.median(degrees)}")
for row in sorted(rows, key=lambda row: -float(row["degrees"])):
    print("{:<10}{:>8}".format(row["city"], row["degrees"]))
""",
    b"""import random
from functools import lru_cache
from itertools import combinations

random.seed(7)
numbers = random.sample(range(100), 8)


@lru_cache(maxsize=None)
def ways(n, k):
    return 1 if k in (0, n) else ways(n - 1, k - 1) + ways(n - 1, k)


print(sorted(numbers), ways(12, 5))
print([pair for pair in combinations(numbers, 2) if sum(pair) == 100])
table = {n: {m: n * m for m in range(1, 4)} for n in range(1, 4)}
for n, row in table.items():
    print(n, "|", *row.values())
""",
    b"""orders = [("ann", "tea", 3, 2.5), ("bob", "cake", 1, 4.0), ("ann", "cake", 2, 4.0)]
totals = {}
for name, thing, count, price in orders:
    totals[name] = totals.get(name, 0) + count * price
for name in sorted(totals, key=totals.get, reverse=True):
    print("%-6s %6.2f" % (name, totals[name]))
assert round(sum(totals.values()), 2) == 19.5, totals
print({*map(str.upper, totals)} == {"ANN", "BOB"}, len(orders), orders[0][1:], tuple(zip(*orders))[1])
raise ValueError(f"no order for {orders[-1][0]!r}")
""",
)
