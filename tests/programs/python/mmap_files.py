import mmap
import os

with open("data.bin", "wb") as file:
    file.write(b"abcdefgh" * 1024)
with open("data.bin", "r+b") as file:
    with mmap.mmap(file.fileno(), 0) as view:
        print(len(view), view[:8], view.find(b"ha"), view.rfind(b"a"))
        view[0:3] = b"XYZ"
        view.flush()
        view.seek(100)
        print(view.read(4), view.readline()[:3])
        view.resize(4096)
print(os.path.getsize("data.bin"), open("data.bin", "rb").read(5))
with mmap.mmap(-1, 1 << 20) as nowhere:
    nowhere[:5] = b"hello"
    print(nowhere[:6], len(nowhere))
with open("data.bin", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
    try:
        view[0] = 1
    except TypeError as error:
        print(error)
