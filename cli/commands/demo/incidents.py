"""What 60 transactions say about an incident, as one JSON document."""
import json
import statistics


def p95(times):
    return sorted(times)[int(0.95 * (len(times) - 1))]


def summary(name, rows):
    return {
        "service": name,
        "transactions": len(rows),
        "failed": sum(row["status"] >= 500 for row in rows),
        "p95_ms": p95([row["ms"] for row in rows]),
    }


transactions = json.loads(input())["transactions"]
failed = [row for row in transactions if row["status"] >= 500]
names = sorted({row["service"] for row in transactions})
services = [
    summary(name, [row for row in transactions if row["service"] == name]) for name in names
]
worst = max(services, key=lambda service: service["failed"])
hits = [row for row in failed if row["service"] == worst["service"]]
during = [
    row
    for row in transactions
    if row["service"] == worst["service"] and hits[0]["at"] <= row["at"] <= hits[-1]["at"]
]

print(json.dumps({
    "transactions": len(transactions),
    "from": transactions[0]["at"],
    "to": transactions[-1]["at"],
    "failed": len(failed),
    "error_rate": round(len(failed) / len(transactions), 4),
    "median_ms": statistics.median(row["ms"] for row in transactions),
    "incident": {
        "service": worst["service"],
        "from": hits[0]["at"],
        "to": hits[-1]["at"],
        "transactions": len(during),
        "failed": len(hits),
        "slowest_ms": max(row["ms"] for row in during),
        "unpaid_cents": sum(row["cents"] for row in hits),
    },
    "services": services,
}))
