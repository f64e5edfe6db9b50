"""A client of ced for scenarios: msgpack-rpc with only python3-msgpack, and TAP."""

import os
import socket
import sys
import time

import msgpack

PATH = os.environ["CED_SOCKET"]


class Client:
    def __init__(self, path=PATH, timeout=300):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(timeout)
        self.sock.connect(path)
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
        self.msgid = 0
        self.notices = []
        self.replies = {}

    def send(self, method, **params):
        self.msgid += 1
        self.sock.sendall(msgpack.packb([0, self.msgid, method, [params]]))
        return self.msgid

    def receive(self, msgid):
        """The [error, result] of one request; others and notifications are kept."""
        while msgid not in self.replies:
            for message in self.unpacker:
                if message[0] == 1:
                    self.replies[message[1]] = message[2:]
                else:
                    self.notices.append(message[1:])
            if msgid in self.replies:
                break
            data = self.sock.recv(1 << 16)
            if not data:
                raise EOFError("the daemon closed the connection")
            self.unpacker.feed(data)
        return self.replies.pop(msgid)

    def call(self, method, **params):
        error, result = self.receive(self.send(method, **params))
        if error is not None:
            raise RuntimeError(error)
        return result

    def run(self, code, **params):
        return self.call("run", language="python", code=code, **params)

    def close(self):
        self.sock.close()


count = 0
failed = 0


def ok(good, name, told=None):
    global count, failed
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        failed += 1
        if told is not None:
            print("#", str(told)[:600].replace("\n", "\n# "))
    sys.stdout.flush()
    return good


def eq(found, hoped, name):
    return ok(found == hoped, name, f"found {found!r}, hoped for {hoped!r}")


def done():
    print(f"1..{count}")
    sys.exit(failed > 0)


def children(pid):
    """Every process below `pid`, with its command line."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat:
                    parents[int(name)] = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    below = {pid}
    grew = True
    while grew:
        more = {child for child, parent in parents.items() if parent in below} - below
        below |= more
        grew = bool(more)
    return below - {pid}


def mark(signal):
    """A line of Python by which marked() finds its process: the host sees which signals a process ignores."""
    return f"import signal; signal.signal({signal}, signal.SIG_IGN)\n"


def marked(spawner, signal):
    """Pids of the programs that contain mark(signal)."""
    pids = []
    for pid in children(spawner):
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
                ignored = next(line for line in status if line.startswith("SigIgn:"))
        except (OSError, StopIteration):
            continue
        if int(ignored.split()[1], 16) >> (signal - 1) & 1:
            pids.append(pid)
    return pids


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def name(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def lives(pid):
    """Whether the process can still run: false for a zombie."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def daemon_pid(spawner):
    """The event loop's process."""
    for pid in children(spawner):
        if command(pid).startswith("ced --spawner-fd"):
            return pid
    return None


def descriptors(pid):
    """How many descriptors it has open; None: only root may look into ced and its spawner."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return None


def rss_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    return 0


def wait_until(condition, seconds=120):
    """Whether the condition holds at last.  The patience is for a busy machine: only a fault uses it up."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False
