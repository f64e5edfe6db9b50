import numpy as np

NUMBER = 0

generator = np.random.default_rng(NUMBER)
x = np.linspace(0, 10, 500)
y = 3 * x + 2 + generator.normal(0, 1, x.size)
slope, offset = np.polyfit(x, y, 1)
residuals = y - (slope * x + offset)
print(f"slope {slope:.2f}, offset {offset:.2f}, r2 {1 - residuals.var() / y.var():.3f}")
