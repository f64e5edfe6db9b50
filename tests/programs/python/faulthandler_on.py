import ctypes
import faulthandler

faulthandler.enable()
print("buffered, and lost")
ctypes.string_at(0)
