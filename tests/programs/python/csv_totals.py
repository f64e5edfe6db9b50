# stdin: region,amount\nnorth,10\nsouth,"1,250.50"\nnorth,-3.5\n"we""st",0\n
import csv
import sys
from collections import defaultdict

totals = defaultdict(float)
for row in csv.DictReader(sys.stdin):
    totals[row["region"]] += float(row["amount"].replace(",", ""))
writer = csv.writer(sys.stdout, quoting=csv.QUOTE_NONNUMERIC)
for region, total in sorted(totals.items()):
    writer.writerow([region, round(total, 2)])
print(sorted(csv.list_dialects()))
print(csv.Sniffer().sniff("a;b;c\n1;2;3\n").delimiter)
