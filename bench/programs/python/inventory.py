import json

NUMBER = 0

stock = {
    "bolt": {"count": 120 + NUMBER % 30, "minimum": 50, "price": 0.12},
    "nut": {"count": 35, "minimum": 50, "price": 0.08},
    "washer": {"count": 400, "minimum": 100, "price": 0.02},
    "gear": {"count": 3, "minimum": 5, "price": 14.5},
}
changes = [("bolt", -80), ("nut", +40), ("gear", -4), ("spring", +10), ("washer", -NUMBER % 90)]

problems = []
for name, change in changes:
    item = stock.get(name)
    if item is None:
        problems.append(f"{name}: unknown item")
        continue
    if item["count"] + change < 0:
        problems.append(f"{name}: only {item['count']} left, {-change} asked for")
        continue
    item["count"] += change

reorder = {name: item["minimum"] * 2 - item["count"] for name, item in stock.items() if item["count"] < item["minimum"]}
value = sum(item["count"] * item["price"] for item in stock.values())
print(json.dumps({"reorder": reorder, "value": round(value, 2), "problems": problems}, sort_keys=True))
