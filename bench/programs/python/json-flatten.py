import json

NUMBER = 0

document = json.loads(
    """
{"user": {"name": "Ann", "tags": ["a", "b"], "address": {"city": "Ulm", "zip": "89073"}},
 "orders": [{"id": 1, "lines": [{"sku": "x1", "n": 2}]}, {"id": 2, "lines": []}],
 "active": true, "score": null}
"""
)
document["orders"].append({"id": NUMBER, "lines": [{"sku": f"y{NUMBER % 9}", "n": 1}]})


def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if not value:
            yield path, []
        for index, inner in enumerate(value):
            yield from flatten(inner, f"{path}[{index}]")
    else:
        yield path, value


flat = dict(flatten(document))
for path in sorted(flat):
    print(f"{path} = {json.dumps(flat[path])}")
print(len(flat), "leaves")
