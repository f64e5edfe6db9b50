import errno
import glob
import os

os.makedirs("d/e/f", exist_ok=True)
for n in range(5):
    with open(f"d/{n}.dat", "wb") as file:
        file.write(os.urandom(n * 10))
print(sorted(glob.glob("d/**/*", recursive=True)), [e.name for e in sorted(os.scandir("d"), key=lambda e: e.name) if e.is_file()])
for root, folders, files in os.walk("."):
    print(root, sorted(folders), sorted(files))
os.rename("d/2.dat", "hard")
print(os.path.islink("hard"), os.stat("hard").st_nlink, os.path.realpath("d/../hard").endswith("/hard"))
os.utime("hard", (1000, 2000))
print(os.stat("hard").st_mtime)
os.truncate("hard", 7)
print(os.path.getsize("hard"), os.access("hard", os.R_OK | os.W_OK))
fd = os.open("raw", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
print(os.write(fd, b"0123456789"), os.lseek(fd, 4, os.SEEK_SET), os.read(fd, 3), os.pread(fd, 2, 0), os.pwrite(fd, b"X", 1), os.fstat(fd).st_size)
os.fsync(fd)
os.close(fd)
other = os.dup(1)
print(os.get_inheritable(other), os.isatty(1), oct(os.umask(0o077)), oct(os.umask(0o022)), os.getcwd() == os.path.abspath("."))
for action in (lambda: os.rmdir("d"), lambda: os.mkdir("d"), lambda: os.remove("no"), lambda: os.close(999), lambda: os.rename("no", "yes"),
               lambda: os.open("raw", os.O_CREAT | os.O_EXCL), lambda: os.listdir("raw"), lambda: os.readlink("raw")):
    try:
        action()
    except OSError as error:
        print(type(error).__name__, errno.errorcode[error.errno], error)
os.replace("raw", "d/e/f/new")
os.removedirs("d/e/f") if not os.listdir("d/e/f") else print(os.listdir("d/e/f"))
print(os.sep, os.linesep == "\n", os.name, os.path.normpath("/a/./b/../c"), os.path.commonpath(["/a/b", "/a/c"]), os.fspath("x"))
