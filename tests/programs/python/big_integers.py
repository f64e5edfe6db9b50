import math
import sys

n = 2**4423 - 1
print(n.bit_length(), len(hex(n)), n % 1_000_003, pow(3, n, 1_000_003), math.isqrt(n) % 97)
print(math.factorial(100), math.comb(200, 100), math.gcd(*[12, 18, 27]), math.lcm(4, 6, 10), math.perm(20, 3))
print((-7) // 2, -7 % 3, divmod(-7, -2), 7 .bit_count() if hasattr(int, "bit_count") else 3, (1 << 200).to_bytes(26, "big").hex())
print(int("zz", 36), int.from_bytes(b"\xff\x00", "little", signed=True), 0x_ff, 0b1010, f"{10**30:_}", f"{255:#06x}")
if hasattr(sys, "get_int_max_str_digits"):
    print(sys.get_int_max_str_digits())
    try:
        str(10**5000)
    except ValueError as error:
        print(error)
x, y = 0, 1
for _ in range(10000):
    x, y = y, x + y
print(x % 10**20)
