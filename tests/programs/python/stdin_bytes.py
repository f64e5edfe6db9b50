# stdin: \x00\x01binary\r\nmore\n
import sys

data = sys.stdin.buffer.read()
print(len(data), data, sys.stdin.read(), sys.stdin.isatty(), sys.stdin.encoding)
