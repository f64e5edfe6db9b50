#!/bin/bash
# Cleans a CSV in a jail: clean.sh FILE writes cleaned/out.csv and prints counts as JSON.
set -eu

cectl run --artifact out.csv --out cleaned \
	--schema '{"type": "object", "required": ["read", "kept", "by_item"]}' -c '
import collections, csv, json, sys

rows = list(csv.DictReader(sys.stdin))
kept, seen = [], set()
for row in rows:
    row = {key.strip().lower(): (value or "").strip() for key, value in row.items()}
    if row["order"] in seen or not row["amount"].isdigit():
        continue
    seen.add(row["order"])
    kept.append({**row, "item": row["item"].lower()})

with open("out.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, ["order", "item", "amount"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept)
print(json.dumps({"read": len(rows), "kept": len(kept),
                  "by_item": collections.Counter(row["item"] for row in kept)}))
' <"$1"
