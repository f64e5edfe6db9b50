#!/usr/bin/python3
"""
What ced-egress adds to a connection, beside the same connection without it.

    egress.py [--rounds N] [--connects N] [--mib N] PROGRAMS

PROGRAMS is a folder of a build, such as build/release.  Run it as root in a network namespace of its
own, as `./dev bench egress` does: it brings up that namespace's loopback, and starts there a server
of names, a server that echoes, a server that sends, and a daemon.  All of them end with it.

One program measures both sides: as a run with a network, and as a plain process.  In each round they
take turns, so that whatever else the machine does hits both alike.  The exit status is 1 if a promise
is not kept by the fastest tenth of each: a machine that does something else delays each of the many
wake-ups on the way, and no code can make up for that.
"""

import argparse
import ctypes
import fcntl
import json
import os
import pwd
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

CONNECT_MS_MOST = 0.5  # added
RATE_LEAST = 0.5  # of the rate without ced-egress
DOMAIN = "bench.test"
PIECE = bytes(1 << 20)
PR_SET_PDEATHSIG = 1

# Host and ports come from the arguments.  A connection is there when its first byte has come back:
# inside, connect() alone succeeds before anything is decided.
PROGRAM = """
import json, socket, sys, time
host, echo, source, count, size = sys.argv[1], *map(int, sys.argv[2:])
times = []
for _ in range(count):
    began = time.perf_counter()
    with socket.create_connection((host, echo)) as s:
        s.sendall(b"x")
        s.recv(1)
        times.append(time.perf_counter() - began)
room, got = bytearray(1 << 18), 0
with socket.create_connection((host, source)) as s:
    s.sendall(b"%d\\n" % size)
    began = time.perf_counter()
    while piece := s.recv_into(room):
        got += piece
    took = time.perf_counter() - began
assert got == size, got
print(json.dumps({"connects": times, "rate": got / took}))
"""


def loopback_up():
    with socket.socket() as s:
        flags = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(s, 0x8914, flags)  # SIOCSIFFLAGS


# ---- servers, each a process that serves one connection after the other ---------------------------


def serve_names(sock):
    """Each name is 127.0.0.1."""
    while True:
        question, asker = sock.recvfrom(512)
        end = question.index(b"\0", 12) + 5
        is_v4 = question[end - 3] == 1
        answer = b"\xc0\x0c" + struct.pack(">HHIH4s", 1, 1, 30, 4, b"\x7f\0\0\1") if is_v4 else b""
        head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, int(is_v4), 0, 0)
        sock.sendto(head + question[12:end] + answer, asker)


def serve_echo(sock):
    while True:
        conn, _ = sock.accept()
        with conn:
            try:
                conn.sendall(conn.recv(1))
            except OSError:
                pass


def serve_bytes(sock):
    while True:
        conn, _ = sock.accept()
        with conn:
            try:
                left = int(conn.recv(32))
                while left:
                    left -= conn.send(memoryview(PIECE)[: min(left, len(PIECE))])
            except (OSError, ValueError):
                pass


def start_server(serve, kind=socket.SOCK_STREAM):
    """Its port.  The process ends with this one."""
    sock = socket.socket(socket.AF_INET, kind)
    sock.bind(("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        sock.listen(128)
    if os.fork() == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        serve(sock)
    port = sock.getsockname()[1]
    sock.close()
    return port


# ---- the daemon ----------------------------------------------------------------------------------


def account():
    """The uid that ced becomes when root starts it."""
    try:
        return pwd.getpwnam("ced").pw_uid
    except KeyError:
        return pwd.getpwnam("nobody").pw_uid


class Daemon:
    def __init__(self, programs, folder, ports):
        echo, source, names = ports
        os.chmod(folder, 0o755)
        for name, mode in (("run", 0o755), ("state", 0o700)):
            os.mkdir(os.path.join(folder, name), mode)
            os.chown(os.path.join(folder, name), account(), -1)
        self.socket = os.path.join(folder, "run", "ced.sock")
        config = os.path.join(folder, "ced.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(f'cgroups = "auto"\negress {{\n\tallow = {{"{DOMAIN}:{echo}", "{DOMAIN}:{source}"}}\n'
                       f'\tprivate = {{"127.0.0.1"}}\n\tresolvers = {{"127.0.0.1:{names}"}}\n'
                       "\tmost_connections = 100000\n\tmost_down_bytes = 100gb\n}\n")
        self.log = open(os.path.join(folder, "log"), "wb")
        self.process = subprocess.Popen(
            [os.path.join(programs, "bin", "ced-spawner"), "--libexec", os.path.join(programs, "libexec", "ced"),
             "--", "--socket", self.socket, "--state", os.path.join(folder, "state"), "--config", config],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def client(self):
        os.environ["CED_SOCKET"] = self.socket
        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "scenario"))
        from wire import Client  # which reads CED_SOCKET

        until = time.monotonic() + 120
        while True:
            try:
                client = Client()
                client.run("1")
                return client
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    with open(self.log.name, encoding="utf-8") as log:
                        sys.exit(f"egress.py: the daemon did not come up:\n{log.read()[-2000:]}")
                time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


# ---- measuring -----------------------------------------------------------------------------------


def measure_inside(client, args, ports):
    result = client.call("run", language="python", code=PROGRAM, args=[DOMAIN, *args],
                         limits={"wall_ms": 60000, "cpu_ms": 60000},
                         network={"allow": [f"{DOMAIN}:{port}" for port in ports], "connections": 10000,
                                  "down_bytes": 4 << 30})
    if result["outcome"] != "ok":
        sys.exit(f"egress.py: a run ended as {result['outcome']}: {result}")
    return json.loads(result["stdout"])


def measure_outside(args):
    said = subprocess.run([sys.executable, "-I", "-c", PROGRAM, "localhost", *args], check=True, capture_output=True)
    return json.loads(said.stdout)


def tell(name, took):
    """Prints a row.  Returns the fastest tenth of both, which other load on the machine spoils least."""
    connects = sorted(each * 1e3 for one in took for each in one["connects"])
    rates = sorted((one["rate"] / 1e6 for one in took), reverse=True)
    row = [values[int(len(values) * part)] for values in (connects, rates) for part in (0.1, 0.5, 0.9)]
    print(f"{name:20}" + "".join(f" {value:8.2f}" for value in row[:3]) + "".join(f" {value:8.0f}" for value in row[3:]))
    return row[0], row[3]


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].strip())
    words.add_argument("programs", help="a folder with bin and libexec")
    words.add_argument("--rounds", type=int, default=30)
    words.add_argument("--connects", type=int, default=50, help="in a round, of each kind")
    words.add_argument("--mib", type=int, default=32, help="in a round, of each kind")
    given = words.parse_args()
    loopback_up()
    ports = start_server(serve_echo), start_server(serve_bytes), start_server(serve_names, socket.SOCK_DGRAM)
    args = [str(word) for word in (*ports[:2], given.connects, given.mib << 20)]
    inside, outside = [], []
    with tempfile.TemporaryDirectory(prefix="ced-egress.") as folder:
        daemon = Daemon(given.programs, folder, ports)
        try:
            client = daemon.client()
            measure_inside(client, args, ports[:2])  # makes the first worker with a network
            for _ in range(given.rounds):
                outside.append(measure_outside(args))
                inside.append(measure_inside(client, args, ports[:2]))
        finally:
            daemon.stop()
    print(f"{'':20} {'connect, ms':^26} {'MB/s':^26}")
    print(f"{'':20}" + f" {'best 10%':>8} {'median':>8} {'90 %':>8}" * 2)
    direct = tell("directly", outside)
    through = tell("through ced-egress", inside)
    added, share = through[0] - direct[0], through[1] / direct[1]
    print(f"it adds {added:.2f} ms to a connect; at most {CONNECT_MS_MOST} are promised")
    print(f"it has {share:.0%} of the throughput; at least {RATE_LEAST:.0%} are promised")
    return added > CONNECT_MS_MOST or share < RATE_LEAST


if __name__ == "__main__":
    sys.exit(main())
