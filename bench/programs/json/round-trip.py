import json
import sys

NUMBER = 0

rows = json.load(sys.stdin)
total = 0
for row in rows:
    total += row["amount"]
    row["batch"] = NUMBER % 10
json.dump({"total": round(total, 2), "rows": rows}, sys.stdout)
