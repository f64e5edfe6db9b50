import io
import os

with open("t.txt", "w", newline="\r\n") as file:
    print(file.write("one\ntwo\n"), file.tell())
print(open("t.txt", "rb").read(), open("t.txt").read(), open("t.txt", newline="").readlines())
with open("t.txt", "a+") as file:
    file.write("drei")
    file.seek(0)
    print(file.readlines())
with open("t.txt", "r+b", buffering=0) as file:
    file.seek(-4, os.SEEK_END)
    print(file.readall(), file.truncate(3), file.mode)
for mode in "x", "rw", "q", "rb+x":
    try:
        open("t.txt", mode)
    except (OSError, ValueError) as error:
        print(mode, type(error).__name__, error)
raw = io.BytesIO(b"line1\nline2\nline3")
reader = io.BufferedReader(raw, 4)
print(reader.peek(2)[:2], reader.readline(), io.TextIOWrapper(reader).read())
print(io.StringIO("a\r\nb", newline=None).read().__repr__(), io.DEFAULT_BUFFER_SIZE)
file = open("never-closed.txt", "w")
file.write("flushed at the end")
print(open("t.txt", "rb").read(), file.closed)
try:
    with open("t.txt") as file:
        file.write("x")
except io.UnsupportedOperation as error:
    print(error)
file = open("t.txt")
file.close()
file.read()
