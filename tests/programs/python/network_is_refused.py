# inside: socket PermissionError EPERM
# inside: urllib URLError
# inside: pair b'works'
import errno
import socket
import sys
import urllib.request

try:
    socket.socket().connect(("127.0.0.1", 9))
except OSError as error:
    print("socket", type(error).__name__, errno.errorcode[error.errno])
try:
    urllib.request.urlopen("http://example.invalid/", timeout=2)
except OSError as error:
    print("urllib", type(error).__name__)
a, b = socket.socketpair()
a.send(b"works")
print("pair", b.recv(10))
