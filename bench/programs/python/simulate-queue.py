import random
import statistics
from collections import deque

NUMBER = 0


def simulate(seed, clerks, customers=150):
    generator = random.Random(seed)
    free_at = [0.0] * clerks
    waits = []
    now = 0.0
    for _ in range(customers):
        now += generator.expovariate(1 / 2)
        clerk = min(range(clerks), key=free_at.__getitem__)
        begin = max(now, free_at[clerk])
        waits.append(begin - now)
        free_at[clerk] = begin + generator.uniform(1, 6)
    return waits


for clerks in (1, 2, 3):
    waits = simulate(NUMBER, clerks)
    print(f"{clerks} clerks: mean wait {statistics.mean(waits):.1f}, longest {max(waits):.1f}, at once {waits.count(0.0)}")

window = deque(maxlen=20)
worst = 0
for wait in simulate(NUMBER + 1, 2):
    window.append(wait)
    if len(window) == window.maxlen:
        worst = max(worst, sum(window) / len(window))
print(f"worst mean of twenty: {worst:.2f}")
