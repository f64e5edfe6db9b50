import math
import random

NUMBER = 0

generator = random.Random(NUMBER)
values = [generator.gauss(50, 12) for _ in range(400)]


def percentile(data, share):
    data = sorted(data)
    place = (len(data) - 1) * share
    low, high = math.floor(place), math.ceil(place)
    return data[low] + (data[high] - data[low]) * (place - low)


buckets = {}
for value in values:
    key = int(value // 10) * 10
    buckets[key] = buckets.get(key, 0) + 1
most = max(buckets.values())
for key in sorted(buckets):
    print(f"{key:>4} to {key + 9:>3} {'█' * round(buckets[key] / most * 40)} {buckets[key]}")
mean = sum(values) / len(values)
deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
print(f"mean {mean:.2f} deviation {deviation:.2f}")
print("quartiles", [round(percentile(values, share), 2) for share in (0.25, 0.5, 0.75)])
