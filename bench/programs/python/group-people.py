from itertools import groupby
from operator import attrgetter, itemgetter
from types import SimpleNamespace

NUMBER = 0

cities = ["Oslo", "Lima", "Cairo"]
jobs = ["cook", "driver", "nurse", "clerk"]
people = [
    SimpleNamespace(name=f"P{i:02}", city=cities[(i + NUMBER) % 3], job=jobs[i % 4], age=20 + i * 7 % 45)
    for i in range(24)
]
people.sort(key=attrgetter("city", "age"))
for city, group in groupby(people, key=attrgetter("city")):
    group = list(group)
    oldest = max(group, key=attrgetter("age"))
    print(f"{city}: {len(group)} people, mean age {sum(p.age for p in group) / len(group):.1f}, oldest {oldest.name}")

pivot = {}
for person in people:
    row = pivot.setdefault(person.job, dict.fromkeys(cities, 0))
    row[person.city] += 1
print(f"{'':8}" + "".join(f"{city:>8}" for city in cities))
for job, row in sorted(pivot.items(), key=itemgetter(0)):
    print(f"{job:8}" + "".join(f"{row[city]:>8}" for city in cities))
