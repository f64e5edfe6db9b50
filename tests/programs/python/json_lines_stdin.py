# stdin: {"user": "ann", "ms": 12}\n{"user": "bob", "ms": 40}\nbroken\n{"user": "ann", "ms": 20}\n
import json
import statistics
import sys

times, broken = {}, 0
for number, line in enumerate(sys.stdin, 1):
    try:
        entry = json.loads(line)
    except ValueError as error:
        print(f"line {number}: {error}", file=sys.stderr)
        broken += 1
        continue
    times.setdefault(entry["user"], []).append(entry["ms"])
for user in sorted(times):
    print(f"{user:<5}|{len(times[user]):>3}|{statistics.mean(times[user]):8.2f}")
sys.exit(broken)
