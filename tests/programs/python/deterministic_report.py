# stdin: [{"name": "Widget", "price": 9.99, "stock": 10}, {"name": "Gadget", "price": 24.5, "stock": 0}]
import json
import sys
from collections import namedtuple

Product = namedtuple("Product", "name price stock")
products = [Product(**row) for row in json.load(sys.stdin)]
width = max(len(p.name) for p in products)
print(f"{'Product':<{width}} | {'Price':>8} | Stock")
print("-" * (width + 20))
for product in sorted(products, key=lambda p: p.price, reverse=True):
    mark = "" if product.stock else "  (sold out)"
    print(f"{product.name:<{width}} | {product.price:>8.2f} | {product.stock:>5}{mark}")
print(json.dumps({"total": sum(p.price * p.stock for p in products), "count": len(products)}))
