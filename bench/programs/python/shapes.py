import math
from abc import ABC, abstractmethod

NUMBER = 0


class Shape(ABC):
    @abstractmethod
    def area(self):
        ...

    @abstractmethod
    def perimeter(self):
        ...

    def __lt__(self, other):
        return self.area() < other.area()

    def __str__(self):
        return f"{type(self).__name__.lower()}: area {self.area():.2f}, perimeter {self.perimeter():.2f}"


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius**2

    def perimeter(self):
        return 2 * math.pi * self.radius


class Rectangle(Shape):
    def __init__(self, width, height):
        self.width, self.height = width, height

    def area(self):
        return self.width * self.height

    def perimeter(self):
        return 2 * (self.width + self.height)


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)


shapes = [Circle(1 + NUMBER % 4), Rectangle(2, 5), Square(3), Circle(0.5), Square(NUMBER % 6 + 1)]
for shape in sorted(shapes):
    print(shape)
try:
    Shape()
except TypeError as error:
    print(type(error).__name__)
print([cls.__name__ for cls in Square.__mro__])
