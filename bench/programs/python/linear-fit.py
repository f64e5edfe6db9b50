import math
import random

NUMBER = 0

generator = random.Random(NUMBER)
xs = [i / 4 for i in range(60)]
ys = [3.2 * x - 1.5 + generator.uniform(-2, 2) for x in xs]


def fit(xs, ys):
    n = len(xs)
    mx, my = sum(xs) / n, sum(ys) / n
    sxx = sum((x - mx) ** 2 for x in xs)
    sxy = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    slope = sxy / sxx
    return slope, my - slope * mx


slope, offset = fit(xs, ys)
predicted = [slope * x + offset for x in xs]
mean = sum(ys) / len(ys)
r2 = 1 - sum((y - p) ** 2 for y, p in zip(ys, predicted)) / sum((y - mean) ** 2 for y in ys)
rmse = math.sqrt(sum((y - p) ** 2 for y, p in zip(ys, predicted)) / len(ys))
print(f"y = {slope:.3f} x {'+' if offset >= 0 else '-'} {abs(offset):.3f}")
print(f"r2 {r2:.4f} rmse {rmse:.4f}")
worst = max(zip(xs, ys, predicted), key=lambda t: abs(t[1] - t[2]))
print("worst point:", tuple(round(value, 2) for value in worst))
