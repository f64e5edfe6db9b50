import csv
import os

rows = [{"id": n, "name": f"näme {n}", "note": 'with "quotes", and\nlines'} for n in range(50)]
with open("out.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.DictWriter(file, fieldnames=["id", "name", "note"])
    writer.writeheader()
    writer.writerows(rows)
print(os.path.getsize("out.csv"), sorted(os.listdir(".")))
with open("out.csv", newline="", encoding="utf-8") as file:
    back = list(csv.DictReader(file))
assert [dict(row, id=int(row["id"])) for row in back] == rows
print(back[7])
