# inside: MemoryError: a callback needs memory that is written and run
import ctypes

libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 6)(5, 3, 9, 1, 7, 2)
try:
    libc.qsort(numbers, 6, ctypes.sizeof(ctypes.c_int), COMPARE(lambda a, b: a[0] - b[0]))
    print(numbers[:])
except MemoryError:
    print("MemoryError: a callback needs memory that is written and run")
