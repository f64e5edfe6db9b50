import cmath
import math
import sys
from fractions import Fraction

print(0.1 + 0.2, 1e308 * 10, -0.0, float("nan"), 5e-324, sys.float_info.max, (0.1).hex(), (0.1).as_integer_ratio())
print(math.fsum([0.1] * 10), sum([0.1] * 10), math.nextafter(1, 2), math.ulp(1.0), round(2.5), round(-1.45, 1), math.hypot(3, 4))
print(math.sin(1e22), math.exp(1), math.log(10), math.gamma(5.5), math.erf(0.3), math.atan2(-0.0, -1), math.log1p(1e-10))
print(Fraction("3.14159").limit_denominator(100), Fraction(1, 3) + Fraction(1, 6), Fraction(0.1))
print(cmath.sqrt(-1), cmath.exp(1j * math.pi), abs(3 + 4j), cmath.phase(-1), (1 + 2j) ** (0.5 - 1j), complex("1e3-2j"))
print(f"{math.pi:.30f} {1e100:g} {1234.5678:10.2e}|{-1.5:+08.2f}|{0.000123:%}", float.fromhex("0x1.8p3"), 1e16 + 1)
for wrong in (lambda: math.sqrt(-1), lambda: math.exp(1000), lambda: 1.0 / 0, lambda: float("x"), lambda: int(float("inf"))):
    try:
        wrong()
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        print(type(error).__name__, error)
