import math
import operator
from functools import reduce, total_ordering

NUMBER = 0


@total_ordering
class Vector:
    def __init__(self, *values):
        self.values = tuple(map(float, values))

    def __repr__(self):
        return f"Vector({', '.join(f'{value:g}' for value in self.values)})"

    def __eq__(self, other):
        return self.values == other.values

    def __hash__(self):
        return hash(self.values)

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __add__(self, other):
        return Vector(*map(operator.add, self.values, other.values))

    def __mul__(self, factor):
        if isinstance(factor, Vector):
            return sum(map(operator.mul, self.values, factor.values))
        return Vector(*(value * factor for value in self.values))

    __rmul__ = __mul__

    def __abs__(self):
        return math.hypot(*self.values)

    def angle(self, other):
        return math.degrees(math.acos(self * other / abs(self) / abs(other)))


vectors = [Vector(1, 2, 2), Vector(NUMBER % 9 + 1, 0, 4), Vector(-1, 0.5, 3)]
print(reduce(operator.add, vectors))
print(sorted(vectors), max(vectors) * 2, 0.5 * vectors[0])
for a, b in zip(vectors, vectors[1:]):
    print(a * b, round(a.angle(b), 3), a <= b)
print(len({Vector(1, 2), Vector(1.0, 2.0), Vector(2, 1)}))
