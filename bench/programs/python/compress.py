import gzip
import io
import zipfile
import zlib

NUMBER = 0

text = "".join(f"row {i % 17}: value {(i * NUMBER) % 101}\n" for i in range(300)).encode()
packed = zlib.compress(text, 9)
print(len(text), "bytes", len(packed) < len(text) / 2)
assert zlib.decompress(packed) == text

buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    for i in range(4):
        archive.writestr(f"part{i}.txt", text[i * 500 : i * 500 + 500])
with zipfile.ZipFile(buffer) as archive:
    for info in archive.infolist():
        print(info.filename, info.file_size, f"{info.CRC:08x}"[:2] != "")
    print(archive.testzip())
print(gzip.decompress(gzip.compress(text)) == text, zlib.crc32(b"check"))


def run_length(data):
    out = []
    for c in data:
        if out and out[-1][0] == c:
            out[-1][1] += 1
        else:
            out.append([c, 1])
    return "".join(c + (str(n) if n > 1 else "") for c, n in out)


print(run_length("aaabccddddde" + "z" * (NUMBER % 9 + 1)))
