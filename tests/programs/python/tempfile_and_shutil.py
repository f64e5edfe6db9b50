import os
import shutil
import stat
import tempfile
import zipfile

with tempfile.TemporaryDirectory() as folder:
    inner = os.path.join(folder, "inner")
    os.makedirs(os.path.join(inner, "deep"))
    with open(os.path.join(inner, "deep", "f.txt"), "w") as file:
        file.write("x" * 1000)
    os.chmod(file.name, 0o600)
    shutil.copytree(inner, os.path.join(folder, "copy"))
    shutil.copy2(file.name, os.path.join(folder, "f2"))
    print(stat.filemode(os.stat(os.path.join(folder, "f2")).st_mode), sorted(os.listdir(folder)))
    shutil.move(os.path.join(folder, "f2"), os.path.join(folder, "copy"))
    archive = shutil.make_archive(os.path.join(folder, "all"), "zip", folder, "copy")
    print(sorted(zipfile.ZipFile(archive).namelist()))
    shutil.rmtree(os.path.join(folder, "copy"))
    print(sorted(os.listdir(folder)), folder.startswith(tempfile.gettempdir()))
print(os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("hello")
    file.seek(0)
    print(file.read(), os.path.exists(file.name), oct(os.stat(file.name).st_mode))
with tempfile.SpooledTemporaryFile(max_size=10) as file:
    file.write(b"x" * 100)
    file.seek(0)
    print(len(file.read()))
with tempfile.TemporaryFile() as file:
    file.write(b"unnamed")
    file.seek(2)
    print(file.read())
handle, path = tempfile.mkstemp(dir=".")
os.close(handle)
print(os.path.isfile(path), shutil.which("no-such-tool"), shutil.disk_usage(".").total > 0)
