#!/usr/bin/python3
"""A whole daemon against clients that send random messages to its socket.

    daemon.py --spawner PID [--seed N] [--seconds S | --batches N] [--first N]

The daemon at CED_SOCKET already runs; tests/scenario/103-whole-daemon.t starts one with low ceilings.
Batch after batch, several connections send messages (messages.py), cut at any byte and interleaved, and leave
at any byte; some never read.  After each batch the same process must answer `hello` and a `run`.

Every batch has its own generator, seeded by the seed and its number.  A failure prints how to send the batch
again: --seed S --first N --batches 1.  The daemon's behaviour also depends on timing, so reproducing a failure may
take several tries.
"""

import argparse
import os
import pathlib
import random
import select
import socket
import sys
import time

import msgpack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scenario"))

from messages import Messages  # noqa: E402
from wire import Client, daemon_pid  # noqa: E402

PATH = os.environ["CED_SOCKET"]
UIDS = (0, 0, 65001, 65002)  # administrator and users; without root, all are the current user
PATIENCE_S = 120  # for the checks: an instrumented daemon on a busy machine is slow
BATCH_S = 3  # for sending a batch


class Finding(Exception):
    pass


def connect(uid):
    """A connection of this user: the kernel records the uid at connect(2)."""
    sock = socket.socket(socket.AF_UNIX)
    if os.getuid() == 0:
        os.seteuid(uid)
    try:
        sock.connect(PATH)
    except OSError:  # its ceiling
        sock.close()
        return None
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
    sock.setblocking(False)
    return sock


class Guest:
    """One client of a batch: its messages, the pieces they are sent in, and how it leaves."""

    def __init__(self, chance):
        whole = Messages(chance).many(chance.choice((0, 1, 2, 5, 20))) or b"\x90"
        if chance.random() < 0.3:
            whole = whole[: chance.randrange(len(whole) + 1)]  # leaves in the middle
        self.pieces = self.cut(chance, whole)
        self.reads = chance.random() < 0.8
        self.ending = chance.choice(("close", "half", "reset", "linger"))
        self.sock = connect(chance.choice(UIDS))

    @staticmethod
    def cut(chance, whole):
        """Cuts its bytes: all in one, a few pieces, or one byte each at the beginning."""
        how = chance.randrange(4)
        if how == 0 or not whole:
            return [whole]
        if how == 1:
            return [whole[at : at + 1] for at in range(min(len(whole), 40))] + [whole[40:]]
        places = sorted(chance.randrange(len(whole)) for _ in range(chance.choice((1, 3, 10))))
        return [whole[a:b] for a, b in zip([0] + places, places + [len(whole)])]

    def wants(self):
        return self.sock is not None and bool(self.pieces)

    def gone(self):
        if self.sock:
            self.sock.close()
        self.sock = None

    def send(self):
        try:
            sent = self.sock.send(self.pieces[0]) if self.pieces[0] else 0
        except BlockingIOError:
            return
        except OSError:  # the daemon disconnected it
            self.gone()
            return
        self.pieces[0] = self.pieces[0][sent:]
        if not self.pieces[0]:
            self.pieces.pop(0)

    def read(self):
        try:
            if not self.sock.recv(1 << 16):
                self.gone()
        except BlockingIOError:
            return
        except OSError:
            self.gone()

    def leave(self, chance):
        """Closes at once, or after the answers, or with answers unread."""
        if self.sock is None:
            return
        try:
            if self.ending == "half":
                self.sock.shutdown(socket.SHUT_WR)
            if self.ending in ("half", "linger"):
                select.select([self.sock], [], [], chance.random() * 0.2)
            if self.ending != "reset":
                self.sock.recv(1 << 16)
        except OSError:
            pass
        self.gone()


def send_batch(chance):
    guests = [Guest(chance) for _ in range(chance.choice((1, 2, 3, 6, 12)))]
    until = time.monotonic() + BATCH_S
    while time.monotonic() < until:
        waiting = [guest for guest in guests if guest.wants()]
        if not waiting:
            break
        guest = chance.choice(waiting)
        guest.send()
        if guest.sock and guest.reads:
            guest.read()
        if chance.random() < 0.01:
            guest.gone()
        if all(guest.pieces and len(guest.pieces[0]) > 65536 for guest in waiting):
            time.sleep(0.001)  # all of them wait for the daemon
    for guest in guests:
        guest.leave(chance)


# ---- checks after each batch -----------------------------------------------------------------------


def restore(client):
    """Undoes what a batch may have done to all users as an administrator."""
    client.receive(client.send("admin.kill_all"))
    client.receive(client.send("admin.resume"))
    for uid in {0, os.getuid(), 1, 1000}:
        client.receive(client.send("admin.unblock", uid=uid))


def greet(client):
    """The daemon answers `busy` while the last batch's messages still use up this user's share of memory."""
    until = time.monotonic() + PATIENCE_S
    while True:
        error, result = client.receive(client.send("hello"))
        if result and result["server"] == "ced":
            return
        if result or error["code"] != "busy" or time.monotonic() > until:
            raise Finding(f"hello is answered with {error or result}")
        time.sleep(error["data"]["retry_after_ms"] / 1000)


def runs(client):
    """Checks that a program runs; asks again while the daemon is busy with the batch."""
    until = time.monotonic() + PATIENCE_S
    while True:
        error, result = client.receive(client.send("run", language="python", code="print(6 * 7)", limits={"wall_ms": 60000, "cpu_ms": 60000}))
        if result and (result["outcome"], result["stdout"]) == ("ok", "42\n"):
            return
        if time.monotonic() > until:
            raise Finding(f"a program does not run: {error or result}")
        if error:
            restore(client)  # a message of the batch that was still in line has drained or blocked again
        time.sleep(0.2)


def check(spawner, daemon):
    pid = daemon_pid(spawner)
    if pid != daemon:
        raise Finding(f"the daemon was {daemon} and is {pid}")
    try:
        client = Client(timeout=PATIENCE_S)
        greet(client)
        restore(client)
        runs(client)
        client.close()
    except (OSError, EOFError) as error:
        raise Finding(f"a good client is not served: {error!r}") from error


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spawner", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--batches", type=int, default=1 << 60)
    parser.add_argument("--seconds", type=float, default=1e9)
    return parser.parse_args()


def main():
    options = arguments()
    daemon = daemon_pid(options.spawner)
    until = time.monotonic() + options.seconds
    number = options.first
    try:
        check(options.spawner, daemon)
        while number < options.first + options.batches and time.monotonic() < until:
            send_batch(random.Random(f"{options.seed}/{number}"))
            check(options.spawner, daemon)
            number += 1
    except Finding as finding:
        print(f"seed {options.seed}, batch {number}: {finding}")
        print(f"again: --seed {options.seed} --first {number} --batches 1")
        return 1
    print(f"seed {options.seed}: {number - options.first} batches, and the daemon is as it was")
    return 0


if __name__ == "__main__":
    sys.exit(main())
