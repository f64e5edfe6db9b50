import gc
import tracemalloc

blocks = [bytearray(1 << 20) for _ in range(120)]
print(len(blocks), sum(map(len, blocks)))
del blocks
gc.collect()
table = {n: str(n) for n in range(200000)}
print(len(table), table[123456])
try:
    huge = bytearray(1 << 50)
except MemoryError as error:
    print("MemoryError", error)
try:
    "x" * (1 << 60)
except (MemoryError, OverflowError) as error:
    print(type(error).__name__)
