# inside: symlink EPERM
# inside: link EPERM
# inside: mkfifo EPERM
# inside: copied b'text'
import errno
import os
import shutil

os.mkdir("a")
with open("a/file", "w") as file:
    file.write("text")
for name, action in ("symlink", lambda: os.symlink("file", "a/s")), ("link", lambda: os.link("a/file", "a/h")), ("mkfifo", lambda: os.mkfifo("p")):
    try:
        action()
        print(name)
    except OSError as error:
        print(name, errno.errorcode[error.errno])
shutil.copytree("a", "b", symlinks=True)
print("copied", open("b/file", "rb").read())
