"""Many connections are all told.  Time and throughput are printed beside those without a jail."""

import os
import socket
import sys
import time

from wire import Client, done, eq, ok

with open(os.path.join(sys.argv[1], "ports"), encoding="ascii") as file:
    PORTS = {name: int(port) for name, port in (line.split() for line in file)}
client = Client()
MANY = int(sys.argv[2])

result = client.call("run", language="python", limits={"wall_ms": 60000, "cpu_ms": 60000},
                     network={"allow": [f"api.test:{PORTS['echo']}"], "connections": 20000, "at_once": 64},
                     code=f"""
import socket
for i in range({MANY}):
    with socket.create_connection(('api.test', {PORTS['echo']})) as s:
        if i % 10 == 0:
            s.sendall(b'x'); s.recv(1)
""")
eq(result["outcome"], "ok", f"a run makes {MANY} connections")
eq(sum(row["count"] for row in result["connections"]) + result.get("connections_others", 0), MANY, "all of them are told")
record = client.call("runs.get", run_id=result["run_id"])
eq(record["connections"], result["connections"], "and recorded")

# Wherever the end of an answer comes among the moves of a turn, it is passed on.
result = client.call("run", language="python", limits={"wall_ms": 60000, "cpu_ms": 60000},
                     network={"allow": [f"api.test:{PORTS['http']}"], "connections": 4096, "down_bytes": 1 << 30}, code=f"""
import socket
late = 0
for size in range(300000, 1500000, 4000):
    with socket.create_connection(('api.test', {PORTS['http']}), timeout=30) as s:
        s.sendall(b'GET /big/%d HTTP/1.0\\r\\n\\r\\n' % size)
        try:
            while s.recv(65536): pass
        except TimeoutError:
            late += 1
            if late == 2: break
print(late)
""")
eq((result["outcome"], result["stdout"]), ("ok", "0\n"), "300 answers of any length come to their ends")

# Both ways at once, in pieces of any size, to and from who is slow: what went out comes back.
SEED = int.from_bytes(os.urandom(4), "big")
result = client.call("run", language="python", limits={"wall_ms": 60000, "cpu_ms": 60000, "pids": 64},
                     network={"allow": [f"api.test:{PORTS['echo']}"], "up_bytes": 1 << 30, "down_bytes": 1 << 30}, code=f"""
import random, socket, threading, time
wrong, sizes = [], []
def talk(seed):
    dice = random.Random(seed)
    size = dice.choice([0, 1, 65535, 65536, 65537, dice.randrange(1 << 20), dice.randrange(4 << 20)])
    body = b"." + dice.randbytes(size)  # not the word at which the server does something else
    sizes.append(len(body))
    s = socket.socket()
    if dice.random() < .4: s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(40)
    s.connect(('api.test', {PORTS['echo']}))
    slow_writer, slow_reader = dice.random() < .3, dice.random() < .3
    def write():
        at = 0
        while at < len(body):
            piece = dice.choice([1, 100, 1000, 70000, 300000])
            s.sendall(body[at:at + piece])
            at += piece
            if slow_writer: time.sleep(.001)
        s.shutdown(socket.SHUT_WR)
    writer = threading.Thread(target=write)
    writer.start()
    back = bytearray()
    try:
        while piece := s.recv(65536):
            back += piece
            if slow_reader: time.sleep(.001)
    except OSError as error:
        wrong.append((seed, str(error), len(body), len(back)))
    writer.join()
    s.close()
    if back != body: wrong.append((seed, len(body), len(back)))
for turn in range(3):
    talkers = [threading.Thread(target=talk, args=({SEED} + 16 * turn + i,)) for i in range(16)]
    for talker in talkers: talker.start()
    for talker in talkers: talker.join()
print(wrong, sum(sizes))
""")
wrong, _, size = result["stdout"].strip().rpartition(" ")
eq((result["outcome"], wrong), ("ok", "[]"), f"48 connections bring back what was sent (seed {SEED})")
eq([sum(row[way] for row in result["connections"]) for way in ("up", "down")], [int(size)] * 2, "and each byte is counted")

# More connections with bytes on their way than there are pipes in ced-egress (PIPES_MOST).
SIZE, WAITING = 7000000, 40
result = client.call("run", language="python", limits={"wall_ms": 60000, "cpu_ms": 60000},
                     network={"allow": [f"api.test:{PORTS['http']}"], "at_once": 64, "down_bytes": 1 << 30}, code=f"""
import socket, time
waiting = []
for i in range({WAITING}):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(40)
    s.connect(('api.test', {PORTS['http']}))
    s.sendall(b'GET /big/{SIZE} HTTP/1.0\\r\\n\\r\\n')
    waiting.append(s)
time.sleep(1)  # they fill what is between here and the server
whole = 0
for i, s in enumerate(waiting):
    if i % 4 == 3:
        s.close()  # bytes that are on their way are lost with it
        continue
    got = bytearray()
    while piece := s.recv(65536): got += piece
    whole += got.endswith(bytes({SIZE})) and got.startswith(b'HTTP/1.1 200')
print(whole)
""")
eq((result["outcome"], result["stdout"]), ("ok", f"{WAITING * 3 // 4}\n"), "many answers that nobody reads for a while come whole")
# Rows are told apart by what came, so the sum says more than any of them.
down = sum(row["down"] for row in result["connections"])
ok(WAITING * 3 // 4 * SIZE < down < WAITING * (SIZE + 1000), f"and nothing is counted twice: {down}")

MEASURE = """
import socket, time
def connects(host, port, count=300):
    times = []
    for i in range(count):
        begun = time.perf_counter()
        with socket.create_connection((host, port)) as s:
            s.sendall(b'x'); s.recv(1)
        times.append(time.perf_counter() - begun)
    return sorted(times)[count // 10] * 1e6  # what other load on the machine spoils least
def stream(host, port, size=100000000):
    with socket.create_connection((host, port)) as s:
        s.sendall(b'GET /big/%d HTTP/1.0\\r\\n\\r\\n' % size)
        begun, got, room = time.perf_counter(), 0, bytearray(1 << 18)
        while count := s.recv_into(room):
            got += count
        return got / (time.perf_counter() - begun) / 1e6
"""
inside = client.call("run", language="python", limits={"wall_ms": 60000, "cpu_ms": 60000},
                     network={"allow": [f"api.test:{PORTS['echo']}", f"api.test:{PORTS['http']}"], "connections": 4096,
                              "down_bytes": 1 << 30},
                     code=MEASURE + f"print(connects('api.test', {PORTS['echo']}), stream('api.test', {PORTS['http']}))")
scope = {}
exec(MEASURE, scope)  # pylint: disable=exec-used
direct = scope["connects"]("127.0.0.1", PORTS["echo"]), scope["stream"]("127.0.0.1", PORTS["http"])
through = tuple(float(word) for word in inside["stdout"].split())
print(f"# connect and one byte back, the fastest tenth: {through[0]:.0f} us, directly {direct[0]:.0f} us")
print(f"# stream: {through[1]:.0f} MB/s, directly {direct[1]:.0f} MB/s")
ok(len(through) == 2 and through[1] > 0, "a run can measure both")
done()
