#!/usr/bin/python3
"""
A warm Python without any jail: what remains of a run without walls, policy and record.

    warm.py SOCKET MODULE...

It imports the modules, and keeps two children waiting that it has forked ahead.  Each of them has
run a sample, so that its pages are its own, and then takes one connection: two lengths of 4 bytes,
the program, its stdin.  It compiles and runs the program, whose stdout is the connection.
"""

import ctypes
import gc
import importlib
import os
import signal
import socket
import struct
import sys
import types

WAITING = 2
PR_SET_PDEATHSIG = 1
SAMPLE = """
import json, collections
rows = [{"name": f"n{i}", "size": i * 7 % 13, "tags": ["a", "b"]} for i in range(40)]
groups = collections.defaultdict(list)
for row in json.loads(json.dumps(rows)):
    groups[row["size"]].append(row["name"])
class Case:
    def __init__(self, **words): self.__dict__.update(words)
    def __repr__(self): return ", ".join(f"{k}={v!r}" for k, v in sorted(self.__dict__.items()))
try:
    print(sorted(groups.items(), key=lambda pair: -pair[0])[:5], Case(a=1, b=2.5)); [][1]
except IndexError as error:
    print(type(error).__name__, error)
"""


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def run(code):
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        exec(compile(code, "main.py", "exec"), module.__dict__)
    except BaseException as error:  # also SystemExit: the program is over in any case
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()


def received(connection, count):
    parts = []
    while count > 0:
        part = connection.recv(count)
        if not part:
            os._exit(1)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def serve(listener):
    end_with_parent()
    run(SAMPLE)
    connection = listener.accept()[0]
    code_bytes, stdin_bytes = struct.unpack("=II", received(connection, 8))
    code, stdin = received(connection, code_bytes), received(connection, stdin_bytes)
    if stdin:
        given = os.memfd_create("stdin")
        os.write(given, stdin)
        os.lseek(given, 0, os.SEEK_SET)
        os.dup2(given, 0)
    os.dup2(connection.fileno(), 1)
    run(code)
    connection.shutdown(socket.SHUT_RDWR)  # the answer is whole before the process is cleared away
    os._exit(0)


def main():
    end_with_parent()
    listener = socket.socket(socket.AF_UNIX)
    for module in sys.argv[2:]:
        try:
            importlib.import_module(module)
        except ImportError:
            pass
    gc.freeze()
    children = set()
    listener.bind(sys.argv[1])
    listener.listen(WAITING)
    while True:
        while len(children) < WAITING:
            pid = os.fork()
            if pid == 0:
                serve(listener)
            children.add(pid)
        children.discard(os.wait()[0])


main()
