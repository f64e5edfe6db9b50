import json


class Square:
    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size**2


def areas(count):
    return [Square(size).area() for size in range(count)]


table = {str(size): size for size in range(10)}
for name, size in sorted(table.items()):
    if size % 2:
        print(name, size)
print(f"{sum(areas(10)):>8} {table} {2 / 7:.3f}", len(table))
print(json.dumps({"table": table, "list": [1, 2.5, None, "x"]}))
try:
    int("no number")
except ValueError as error:
    print("error:", error)
