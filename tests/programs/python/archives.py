import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib

text = ("the same words again and again, " * 200).encode()
for module in zlib, gzip, bz2, lzma:
    pressed = module.compress(text)
    print(module.__name__, len(pressed) < 300, module.decompress(pressed) == text)
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("one/ü.txt", text)
    archive.writestr(zipfile.ZipInfo("two.bin", (2024, 1, 2, 3, 4, 6)), b"\0" * 10)
with zipfile.ZipFile("a.zip") as archive:
    print([(i.filename, i.file_size, i.date_time[0] > 1979) for i in archive.infolist()], archive.testzip())
    archive.extractall("out")
print(open("out/two.bin", "rb").read(), open("out/one/ü.txt", "rb").read() == text)
with tarfile.open("a.tar.xz", "w:xz") as archive:
    info = tarfile.TarInfo("inner/data")
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text))
    archive.add("out/two.bin", "two")
with tarfile.open("a.tar.xz") as archive:
    print(archive.getnames(), archive.extractfile("inner/data").read() == text)
    archive.extractall("untarred")
with gzip.open("a.gz", "wt", encoding="utf-8") as file:
    file.write("zeile\n" * 3)
print(gzip.open("a.gz", "rt").readlines(), zlib.crc32(text), zlib.adler32(text))
for broken, module in ((b"nonsense", gzip), (zlib.compress(text)[:20], zlib), (b"x", bz2)):
    try:
        module.decompress(broken)
    except (OSError, zlib.error, EOFError, ValueError) as error:
        print(type(error).__name__, error)
