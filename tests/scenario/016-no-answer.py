"""Connections over connections_per_uid: each gets `busy`, from the daemon or from cectl."""

import os
import signal
import subprocess
import sys

import wire

CED = int(sys.argv[1])
STRANGER = 4001


def connect():
    os.seteuid(STRANGER)
    try:
        return wire.Client()
    finally:
        os.seteuid(0)


def cectl(*words):
    return subprocess.run(
        ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", "cectl", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


held = [connect(), connect()]
for client in held:
    client.call("hello")

# The request arrives before the daemon accepts the connection.
os.kill(CED, signal.SIGSTOP)
third = connect()
msgid = third.send("runs.list")
os.kill(CED, signal.SIGCONT)
error, result = third.receive(msgid)
assert error["code"] == "busy" and "too many connections" in error["message"], error
assert error["data"]["retry_after_ms"] > 0, error
try:
    assert third.sock.recv(1) == b""
except ConnectionResetError:
    pass

for _ in range(20):
    done = cectl("run", "-c", "print(1)")
    assert done.returncode == 75, done
    assert "too many connections" in done.stderr, done

held[0].close()
for _ in range(100):
    done = cectl("run", "-c", "print(1)")
    if done.returncode != 75:
        break
assert done.stdout == "1\n", done
