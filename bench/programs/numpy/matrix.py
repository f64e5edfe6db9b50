import numpy as np

NUMBER = 0

size = 60
matrix = np.arange(size * size, dtype=float).reshape(size, size) % 17 + np.eye(size) * 50
right = np.full(size, 1.0 + NUMBER % 3)
solution = np.linalg.solve(matrix, right)
print("largest error", float(np.abs(matrix @ solution - right).max()) < 1e-9)
print("mean by row", np.round(matrix.mean(axis=1)[:5], 2).tolist())
