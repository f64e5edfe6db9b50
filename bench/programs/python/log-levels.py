import re
from collections import Counter

NUMBER = 0

LINE = re.compile(r"^(?P<time>\S+) (?P<level>[A-Z]+) \[(?P<part>\w+)\] (?P<text>.*)$")
levels = ["INFO", "INFO", "WARNING", "ERROR"]
parts = ["db", "web", "auth"]
log = "\n".join(
    f"2024-03-{i % 28 + 1:02}T{i % 24:02}:00:00Z {levels[i % 4]} [{parts[(i + NUMBER) % 3]}] request {NUMBER + i} took {i * 37 % 900} ms"
    for i in range(60)
)

seen = Counter()
slow = []
for line in log.splitlines():
    match = LINE.match(line)
    if not match:
        print("unreadable:", line)
        continue
    seen[match["level"], match["part"]] += 1
    took = re.search(r"took (\d+) ms", match["text"])
    if took and int(took[1]) > 800:
        slow.append((int(took[1]), match["text"]))

for (level, part), count in sorted(seen.items()):
    print(f"{level:8} {part:5} {count:3}")
print("slowest:", max(slow))
