import array
import enum
import struct


class Color(enum.Enum):
    RED = 1
    GREEN = enum.auto()
    CRIMSON = 1


class Right(enum.IntFlag):
    READ = 4
    WRITE = 2
    EXEC = 1


print(list(Color), Color.CRIMSON is Color.RED, Color["GREEN"], Color(2), repr(Right.READ | Right.EXEC), Right(7) & ~Right.WRITE)
try:
    Color(9)
except ValueError as error:
    print(error)
packed = struct.pack("<IhB3sxd", 0xDEADBEEF, -2, 255, b"ab", 1.5)
print(packed.hex(), struct.unpack("<IhB3sxd", packed), struct.calcsize("@cqi"), list(struct.iter_unpack(">H", b"\0\1\0\2")))
try:
    struct.unpack("<I", b"abc")
except struct.error as error:
    print(error)
numbers = array.array("i", range(5))
numbers.extend([7, 8])
numbers.byteswap()
print(numbers.tobytes().hex(), array.array("d", [1.5]).itemsize, memoryview(array.array("H", [1, 2, 3]))[1:].tolist())
view = memoryview(bytearray(b"abcdef"))
view[2:4] = b"XY"
print(bytes(view), view.cast("H").shape, view[::-2].tobytes())
