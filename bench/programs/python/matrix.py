from fractions import Fraction

NUMBER = 0


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def inverse(matrix):
    size = len(matrix)
    rows = [list(map(Fraction, row)) + [Fraction(int(i == j)) for j in range(size)] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next(r for r in range(column, size) if rows[r][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        factor = rows[column][column]
        rows[column] = [value / factor for value in rows[column]]
        for r in range(size):
            if r != column and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[column])]
    return [row[size:] for row in rows]


matrix = [[2 + NUMBER % 5, 1, 3], [0, 4, 1], [5, 2, 7]]
back = inverse(matrix)
for row in back:
    print("  ".join(f"{str(value):>8}" for value in row))
product = multiply(matrix, back)
print("identity:", product == [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
