import csv
import io
import statistics

NUMBER = 0

rows = "\n".join(
    f"{region},{month},{(index * 37 + NUMBER) % 100 + month * 3}.5"
    for index, region in enumerate(["north", "south", "east", "west"])
    for month in range(1, 7)
)
source = io.StringIO("region,month,sales\n" + rows)

by_region = {}
for row in csv.DictReader(source):
    by_region.setdefault(row["region"], []).append(float(row["sales"]))

output = io.StringIO()
writer = csv.writer(output)
writer.writerow(["region", "total", "mean", "median", "stdev"])
for region, sales in sorted(by_region.items()):
    writer.writerow(
        [
            region,
            sum(sales),
            round(statistics.mean(sales), 2),
            statistics.median(sales),
            round(statistics.stdev(sales), 2),
        ]
    )
print(output.getvalue())
