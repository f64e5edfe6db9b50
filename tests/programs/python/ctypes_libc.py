import ctypes
import ctypes.util


class Pair(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("quot", ctypes.c_double)]


libc = ctypes.CDLL(None, use_errno=True)
libc.strlen.restype = ctypes.c_size_t
print(libc.strlen(b"hello"), ctypes.sizeof(Pair), Pair(1, 2.5).quot, libc.abs(-5))
libm = ctypes.CDLL("libm.so.6")
libm.cos.restype = ctypes.c_double
libm.cos.argtypes = [ctypes.c_double]
print(libm.cos(0.0), (ctypes.c_int * 3)(1, 2, 3)[:], ctypes.create_string_buffer(b"abc", 5).raw)
libc.open(b"/no/such/file", 0)
print(ctypes.get_errno(), ctypes.cast(ctypes.pointer(ctypes.c_int(7)), ctypes.POINTER(ctypes.c_int)).contents.value)
