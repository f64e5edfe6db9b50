import json
from collections import defaultdict
from dataclasses import asdict, dataclass

NUMBER = 0


@dataclass
class Order:
    customer: str
    item: str
    quantity: int
    price: float

    @property
    def total(self):
        return self.quantity * self.price


names = ["Ada", "Grace", "Edsger", "Barbara"]
items = ["lamp", "chair", "table", "mug"]
orders = [
    Order(names[(NUMBER + i) % 4], items[i % 4], i % 5 + 1, 9.5 + (NUMBER + i) % 7)
    for i in range(24)
]
spent = defaultdict(float)
for order in orders:
    spent[order.customer] += order.total
report = [
    {"customer": name, "spent": round(total, 2)}
    for name, total in sorted(spent.items(), key=lambda pair: -pair[1])
]
print(json.dumps(report, indent=2))
print(asdict(orders[0]))
