from collections import defaultdict
from contextlib import contextmanager

NUMBER = 0


class Bus:
    def __init__(self):
        self.handlers = defaultdict(list)
        self.log = []

    def on(self, event):
        def register(function):
            self.handlers[event].append(function)
            return function

        return register

    def emit(self, event, **data):
        self.log.append(event)
        return [handler(**data) for handler in self.handlers[event]]

    @contextmanager
    def muted(self):
        handlers, self.handlers = self.handlers, defaultdict(list)
        try:
            yield self
        finally:
            self.handlers = handlers


bus = Bus()
totals = {"orders": 0, "amount": 0}


@bus.on("order")
def count(amount, **_):
    totals["orders"] += 1
    totals["amount"] += amount


@bus.on("order")
def announce(amount, name):
    return f"{name} ordered for {amount}"


for i in range(5):
    print(bus.emit("order", amount=(NUMBER + i) % 50, name=f"c{i}"))
with bus.muted():
    print(bus.emit("order", amount=1000, name="nobody"))
print(totals["orders"], bus.log)
