"""Sockets that a service manager may hand over and ced cannot use: 224-wrong-sockets.py COMMAND..."""

import os
import socket
import sys

import wire

command = sys.argv[1:]
folder = os.path.dirname(wire.PATH)


def listening(family, kind, address):
    sock = socket.socket(family, kind)
    sock.bind(address)
    sock.listen()
    return sock


def start(socks):
    """What a daemon says that gets these sockets as 3, 4, ..., and its exit status."""
    kept = [os.dup(sock.fileno()) for sock in socks for _ in range(10)]  # high numbers, clear of 3 and 4

    def hand_over():
        for number, _ in enumerate(socks):
            os.dup2(kept[-1 - number], 3 + number)
        os.environ.update(LISTEN_FDS=str(len(socks)), LISTEN_PID=str(os.getpid()))
        os.execv(command[0], command)  # subprocess would set the environment of before

    pid = os.fork()
    if pid == 0:
        log = os.open(f"{folder}/said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        hand_over()
    _, status = os.waitpid(pid, 0)
    for fd in kept:
        os.close(fd)
    with open(f"{folder}/said", encoding="utf-8") as said:
        return os.waitstatus_to_exitcode(status), said.read()


for name, socks, told in (
        ("a TCP socket", [listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))], "no Unix stream socket"),
        ("a packet socket", [listening(socket.AF_UNIX, socket.SOCK_SEQPACKET, f"{folder}/packets")], "no Unix stream socket"),
        ("an abstract socket", [listening(socket.AF_UNIX, socket.SOCK_STREAM, f"\0ced-wrong-{os.getpid()}")],
         "write ListenStream="),
        ("two sockets", [listening(socket.AF_UNIX, socket.SOCK_STREAM, f"{folder}/{name}") for name in ("one", "two")],
         "handed over 2 sockets")):
    status, said = start(socks)
    wire.ok(status != 0 and told in said and " ready " not in said, f"{name} is refused, with the reason", said)
    for sock in socks:
        sock.close()
wire.done()
