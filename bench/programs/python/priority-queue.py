import enum
import heapq
import itertools
from dataclasses import dataclass, field

NUMBER = 0


class Priority(enum.IntEnum):
    HIGH = 1
    NORMAL = 2
    LOW = 3


@dataclass(order=True)
class Task:
    priority: Priority
    number: int
    name: str = field(compare=False)
    done: bool = field(default=False, compare=False)


class Queue:
    def __init__(self):
        self._heap = []
        self._numbers = itertools.count()

    def add(self, name, priority=Priority.NORMAL):
        heapq.heappush(self._heap, Task(priority, next(self._numbers), name))

    def run(self):
        while self._heap:
            task = heapq.heappop(self._heap)
            task.done = True
            yield task


queue = Queue()
for i in range(12):
    queue.add(f"task-{i}", list(Priority)[(i + NUMBER) % 3])
order = [f"{task.name}:{task.priority.name.lower()}" for task in queue.run()]
print("\n".join(order))
