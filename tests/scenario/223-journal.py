"""Prints each entry that is sent to journald's socket as a line of JSON: 223-journal.py SOCKET"""

import json
import os
import socket
import struct
import sys


def fields(data):
    """The fields of one entry; a value with line breaks has its length in front."""
    found = {}
    while data:
        line, _, data = data.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            (size,) = struct.unpack_from("<Q", data)
            value, data = data[8:8 + size], data[8 + size + 1:]
        found[name.decode()] = value.decode()
    return found


sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
while True:
    print(json.dumps(fields(sock.recv(1 << 18))), flush=True)
