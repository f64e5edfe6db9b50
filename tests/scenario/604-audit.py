"""Plays a daemon that breaks off one part of a verification and would answer the other without end."""

import contextlib
import socket
import sys
import threading

import msgpack

path, how = sys.argv[1:]
broken = threading.Event()


def answer(sock, message):
    """Returns whether to go on."""
    _, number, method, params = message
    if method == "hello":
        sock.sendall(msgpack.packb([1, number, None, {"server": "ced"}]))
        return True
    (params,) = params
    if params["part"] == "chain":
        broken.set()
        if how == "closed":
            return False
        error = {"code": "internal", "message": "the store: the disk failed"}
        sock.sendall(msgpack.packb([1, number, error, None]))
        return True
    broken.wait(30)
    report = {"part": params["part"], "from": params["from"], "next": params["from"] + 1, "of": 1 << 40, "checked": 1,
              "found": 0, "problems": []}
    sock.sendall(msgpack.packb([1, number, None, report]))
    return True


def serve(sock):
    unpacker = msgpack.Unpacker(raw=False)
    goes_on = True
    with sock, contextlib.suppress(OSError):
        while goes_on and (data := sock.recv(65536)):
            unpacker.feed(data)
            for message in unpacker:
                goes_on = answer(sock, message)


listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
threads = []
for _ in range(2):
    threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
    threads[-1].start()
for thread in threads:
    thread.join()
