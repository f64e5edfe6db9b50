"""Programs that reach each limit, all in one jail, one after the other."""

import glob
import json
import os
import sys

from wire import Client, done, eq, ok, wait_until

spawner = int(sys.argv[1])
client = Client()
KIB, MIB = 1 << 10, 1 << 20


def run(code, **params):
    return client.run(code, policy="observe", **params)


def cpu_us(result):
    return result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"]


plain = run("pass")
held = plain["limits"]["enforced_by"]
eq(sorted(held), sorted(set(plain["limits"]) - {"enforced_by"}), "every limit says who holds it")
CGROUP = {name: by in ("cgroup1", "cgroup2") for name, by in held.items()}


def knob(controller, name):
    """The text of a file of the worker's leaf cgroup, if we are root; None: no such file here."""
    with open(f"/proc/{spawner}/cgroup") as table:
        rows = [line.rstrip("\n").split(":", 2) for line in table]
    for _, controllers, path in rows:
        if controller not in controllers.split(",") and controllers:
            continue
        for top in (f"/sys/fs/cgroup/{controllers}", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
            for found in glob.glob(f"{top}{path.removesuffix('/main')}/**/ced-{spawner}/*-s*/{name}", recursive=True):
                with open(found) as file:
                    return file.read().strip()
            for found in glob.glob(f"{top}{path.removesuffix('/main')}/*-s*/{name}"):
                with open(found) as file:
                    return file.read().strip()
    return None


# ---- processors at a time ----------------------------------------------------------------------

BUSY = """
import hashlib, threading, time
block = bytes(1 << 18)
def burn(until=time.monotonic() + 1.5):
    while time.monotonic() < until: hashlib.sha256(block).digest()
threads = [threading.Thread(target=burn) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def quota():
    return knob("cpu", "cpu.cfs_quota_us") or (knob("cpu", "cpu.max") or "").split(" ")[0]


def share(percent):
    result = run(BUSY, limits={"cpu_percent": percent, "cpu_ms": 20000})
    eq(result["outcome"], "ok", f"four busy threads at {percent} % end well")
    eq(result["limits"]["cpu_percent"], percent, "and the result says what they had")
    return 100 * cpu_us(result) / result["metrics"]["exec_us"]


if CGROUP["cpu_percent"]:
    for percent in 20, 100:
        used = share(percent)
        ok(used < 1.15 * percent + 5, f"four busy threads get {percent} % of a processor and no more", f"{used:.0f} %")
    ok(wait_until(lambda: quota() == "100000"), "and the kernel was told so")
    run("pass", limits={"cpu_percent": 150})
    run("pass")
    ok(wait_until(lambda: quota() == "100000"), "one that had more leaves nothing of it to the next")
else:
    eq(held["cpu_percent"], "none", "where nobody holds the share of processors the result says so")

# ---- time --------------------------------------------------------------------------------------

QUICK = {"wall_ms": 400, "cpu_ms": 4000}
STILL = {
    "sleeps": "time.sleep(60)",
    "stops itself": "os.kill(os.getpid(), 19)",
    "stops its group": "os.kill(0, 19)",
    "stops all it can see": "try: os.kill(-1, 19)\nfinally: time.sleep(60)",
    "leaves its session": "os.setsid() if os.getpid() != os.getsid(0) else 0\ntime.sleep(60)",
    "blocks every signal": "signal.pthread_sigmask(0, range(1, 65))\ntime.sleep(60)",
    "ignores every signal": "[signal.signal(n, 1) for n in range(1, 65) if n not in (9, 19, 32, 33)]\ntime.sleep(60)",
    "stops itself from a thread": "threading.Thread(target=os.kill, args=(os.getpid(), 19)).start()\ntime.sleep(60)",
    "says that it is done and goes on": "os.close(1)\nos.close(2)\ntime.sleep(60)",
}
for name, code in STILL.items():
    result = run("import os, signal, threading, time\n" + code, limits=QUICK)
    took_ms = (result["metrics"]["start_us"] + result["metrics"]["exec_us"]) // 1000
    if eq(result["outcome"], "wall_limit", f"wall time ends a program that {name}"):
        eq((result["evidence"]["limit"], result["evidence"]["limit_ms"]), ("wall_ms", 400), "and is named")
        ok(399 <= took_ms < 30000, "when it was due, or a little later on a busy machine", f"{took_ms} ms")
eq(run("import time; time.sleep(0.2)", limits=QUICK)["outcome"], "ok", "one that ends before its time is no case of it")

BURNS = {
    "one thread": "while True: pass",
    "four threads": BUSY.replace("1.5", "60"),
    "system calls": "import os\nwhile True: os.stat('/')",
    "one that stops and goes on": "import os, time\nwhile True:\n  for _ in range(100000): pass\n  time.sleep(0.001)",
}
for name, code in BURNS.items():
    result = run(code, limits={"wall_ms": 20000, "cpu_ms": 300, "cpu_percent": 400})
    if eq(result["outcome"], "cpu_limit", f"cpu time ends {name}"):
        told = result["evidence"]
        eq((told["limit"], told["limit_ms"]), ("cpu_ms", 300), "and is named")
        ok(300 <= told["used_ms"] < 3000, "when it was used up", told)

# ---- memory ------------------------------------------------------------------------------------

FILL = {
    "its own memory": "b = []\nfor i in range({n}): b.append(bytearray(1 << 20))",
    "memory that it maps": "import mmap\nm = mmap.mmap(-1, {n} << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANON)\n"
                           "for i in range(0, {n} << 20, 4096): m[i] = 1",
    "shared memory": "import mmap\nm = mmap.mmap(-1, {n} << 20)\nfor i in range(0, {n} << 20, 4096): m[i] = 1",
    "files in /work": "with open('f', 'wb') as f:\n  for i in range({n}): f.write(bytes(1 << 20))",
    "files in /tmp": "with open('/tmp/f', 'wb') as f:\n  for i in range({n}): f.write(bytes(1 << 20))",
    "files without a name": "import os\nf = open('f', 'wb')\nos.unlink('f')\nfor i in range({n}): f.write(bytes(1 << 20))",
}
ROOMY = {"memory_bytes": 64 * MIB, "disk_bytes": 256 * MIB, "wall_ms": 60000, "cpu_ms": 60000}
for name, code in FILL.items():
    if not CGROUP["memory_bytes"] and "files" in name:
        continue
    eq(run(code.format(n=24), limits=ROOMY)["outcome"], "ok", f"24 of 64 MiB fit: {name}")
    result = run(code.format(n=120), limits=ROOMY)
    if eq(result["outcome"], "memory_limit", f"120 of 64 MiB do not: {name}"):
        told = result["evidence"]
        eq((told["limit"], told["limit_bytes"]), ("memory_bytes", 64 * MIB), "and it is named")
        if CGROUP["memory_bytes"]:
            ok(told["oom_kills"] >= 1, "the kernel killed it", told)
            ok(60 * MIB < told.get("peak_bytes", 64 * MIB) <= 64 * MIB, "at the limit", told)
    after = run("print(1)")
    ok(after["outcome"] == "ok" and after["metrics"]["memory_peak_bytes"] < 48 * MIB and "evidence" not in after,
       "and the next run in its place knows nothing of it", after)
if CGROUP["memory_bytes"]:
    ways = {"memfd": "memfd_create 319 b'x' 0", "System V": "shmget 29 0 4096 950", "a queue": "mq_open 240 b'/x' 66 384 0"}
    for name, call in ways.items():
        number, *args = call.split()[1:]
        said = run(f"import ctypes\nprint(ctypes.CDLL(None).syscall({number}, {', '.join(args)}))")
        eq(said["stdout"].strip(), "-1", f"no other memory is to be had: {name}")
    pipes = run("import os\nends = []\nfor _ in range(400):\n  ends.append(os.pipe())\n  os.set_blocking(ends[-1][1], False)\n"
                "  os.write(ends[-1][1], bytes(1 << 16))\n", limits=dict(ROOMY, memory_bytes=32 * MIB, open_files=1024))
    ok(pipes["outcome"] in ("memory_limit", "ok"), "what lies in pipes is bounded", pipes)
    eq(knob("memory", "memory.swappiness") or knob("memory", "memory.swap.max"), "0", "nothing of it is swapped out")
    ok(wait_until(lambda: str(256 * MIB) in (knob("memory", "memory.limit_in_bytes"), knob("memory", "memory.max"))),
       "the limit of the last run is not that of the next worker")

# ---- processes and threads ---------------------------------------------------------------------

THREADS = """
import threading
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range({n})]
try:
    for thread in threads: thread.start()
finally:
    go.set()
"""
eq(run(THREADS.format(n=7), limits={"pids": 8})["outcome"], "ok", "seven threads and the first are eight")
result = run(THREADS.format(n=12 if not CGROUP["pids"] else 8), limits={"pids": 8})
if eq(result["outcome"], "pids_limit", "one more is one too many"):
    told = result["evidence"]
    eq((told["limit"], told["limit_pids"]), ("pids", 8), "and is named")
    ok(not CGROUP["pids"] or told["refused"] >= 1, "the kernel refused it", told)
eq(run(THREADS.format(n=40))["outcome"], "ok", "forty fit into what a run has that asks for nothing")
ok(wait_until(lambda: knob("pids", "pids.max") in ("64", None)), "and the next worker has what the configuration says")
numbers = run("""
try:
    import numpy
except ImportError:
    print("no numpy")
else:
    a = numpy.random.rand(200, 200)
    u, s, v = numpy.linalg.svd(a)
    print(bool(numpy.allclose(u @ numpy.diag(s) @ v, a)))
""", limits={"pids": 32, "cpu_percent": 50, "wall_ms": 20000, "cpu_ms": 20000})
ok(numbers["stdout"].strip() in ("True", "no numpy"), "numpy works in 32 of them and half a processor", numbers)

# ---- the disk ----------------------------------------------------------------------------------

PAGES = """
import os
n = 0
with open({path!r}, 'wb', 0) as f:
    while n < {n}:
        n += f.write(bytes(min(4096, {n} - n)))
"""
for folder in "/work/f", "/tmp/f":
    roomy = {"disk_bytes": MIB}
    fits = MIB - 16 * KIB  # the program itself is there, too
    eq(run(PAGES.format(path=folder, n=fits), limits=roomy)["outcome"], "ok", f"what fits is taken: {folder}")
    full = run(PAGES.format(path=folder, n=MIB), limits=roomy)
    if eq(full["outcome"], "disk_limit", f"as many bytes as the limit do not fit beside the program: {folder}"):
        told = full["evidence"]
        eq((told["limit"], told["limit_bytes"], told["used_bytes"]), ("disk_bytes", MIB, MIB), "which is named and was full")

MANY = "for i in range({n}): open(str(i), 'w').close()"
eq(run(MANY.format(n=99), limits={"inodes": 100})["outcome"], "ok", "99 files and the program are a hundred")
full = run(MANY.format(n=100), limits={"inodes": 100})
if eq(full["outcome"], "disk_limit", "one more is one too many"):
    told = full["evidence"]
    eq((told["limit"], told["limit_inodes"], told["used_inodes"]), ("inodes", 100, 100), "and is named")

ONE = "with open('f', 'wb') as f:\n  f.seek({n} - 1)\n  f.write(b'x')"
SMALL = {"file_bytes": 256 * KIB}
eq(run(ONE.format(n=256 * KIB), limits=SMALL)["outcome"], "ok", "a file as large as one may be is written, a hole in it or not")
full = run(ONE.format(n=256 * KIB + 1), limits=SMALL)
if eq(full["outcome"], "disk_limit", "one byte more is not"):
    eq((full["evidence"]["limit"], full["evidence"]["limit_bytes"]), ("file_bytes", 256 * KIB), "and is named")
eq(run("open('f', 'wb').truncate(1 << 40)")["outcome"], "disk_limit", "nor is a file of nothing but a hole")
large = run("pass", limits={"disk_bytes": 128 * MIB})["limits"]
eq(large["file_bytes"], 128 * MIB, "who may write more may write it to one file")

# ---- descriptors -------------------------------------------------------------------------------

OPEN = "files = []\nwhile len(files) < 300: files.append(open('/dev/null')); last = files[-1].fileno()\n"
found = run(OPEN.replace("\nwhile", "\ntry:\n  while").replace("last =", "last =") + "except OSError: pass\nprint(last)",
            limits={"open_files": 64})
eq(found["stdout"].strip(), "63", "64 descriptors are 0 to 63")
found = run(OPEN, limits={"open_files": 64})
if eq(found["outcome"], "exception", "a program that wants more and cannot do without fails on that"):
    eq((found["evidence"]["limit"], found["evidence"]["limit_files"]), ("open_files", 64), "and the evidence names it")

# ---- output ------------------------------------------------------------------------------------

for stream in "stdout", "stderr":
    code = f"import sys; sys.{stream}.write('x' * {{n}})"
    limits = {f"{stream}_bytes": 1000}
    fits = run(code.format(n=1000), limits=limits)
    eq((fits["outcome"], fits[f"{stream}_bytes"], fits["truncated"]), ("ok", 1000, []), f"{stream} takes what it may")
    cut = run(code.format(n=1001), limits=limits)
    if eq(cut["outcome"], "output_limit", "and not one byte more"):
        told = cut["evidence"]
        eq((told["limit"], told["limit_bytes"], len(cut[stream])), (f"{stream}_bytes", 1000, 1000), "which is named, and all before it is kept")

# ---- artifacts ---------------------------------------------------------------------------------

WRITE = "for i in range({n}): open('%03d' % i, 'wb').write(bytes(1000))"


def brought(n, **limits):
    result = run(WRITE.format(n=n), artifacts=["0*"], limits=limits)
    return len(result["artifacts"]), len(result["artifacts_skipped"]) > 0, result["outcome"]


eq(brought(5, artifact_count=5), (5, False, "ok"), "as many artifacts come back as may")
eq(brought(6, artifact_count=5), (5, True, "ok"), "and what is more is told")
eq(brought(5, artifact_bytes=5000), (5, False, "ok"), "and so many bytes")
eq(brought(6, artifact_bytes=5999), (5, True, "ok"), "and what is more is told")

for first in "a", "z":  # sorted before and after main.py, which is not an artifact
    code = f"for n in '12': open('{first}' + n, 'wb').write(bytes(500))"
    result = run(code, artifacts=["*"], limits={"artifact_count": 2, "artifact_bytes": 1000})
    eq(([artifact["path"] for artifact in result["artifacts"]], result["artifacts_skipped"]), ([first + "1", first + "2"], []),
       f"the program itself takes no room from artifacts: {first}")
result = run(code.replace("12", "123"), artifacts=["*"], limits={"artifact_count": 2})
eq((len(result["artifacts"]), [skipped["path"] for skipped in result["artifacts_skipped"]]), (2, [""]), "and one too many ends the walk, once")

# ---- the stack ---------------------------------------------------------------------------------

deep = run("import resource\nprint(resource.getrlimit(resource.RLIMIT_STACK), flush=True)\n"
           "import json, sys\nsys.setrecursionlimit(10**9)\njson.loads('[' * 400000)")
eq(deep["stdout"].strip(), str((8 * MIB, 8 * MIB)), "eight MiB of stack and no more")
eq((deep["outcome"], deep.get("signal")), ("signal", "SIGSEGV"), "and past it a program dies of that")
eq(run("def f(): f()\nf()")["error"]["type"], "RecursionError", "what Python counts itself is an exception")

# ---- a whole tree of processes -----------------------------------------------------------------


def bash(code, **limits):
    return client.call("run", language="bash", code=code, policy="observe", limits=limits)


if any(runtime["name"] == "bash" for runtime in client.call("runtimes")["runtimes"]):
    for name, code in {
        "stops itself": "kill -STOP $$", "stops its group": "kill -STOP 0", "has its children wait": "(sleep 60 & sleep 60) & wait",
        "lets nothing end it": "trap '' HUP INT QUIT TERM TSTP XCPU; sleep 60 & wait",
    }.items():
        eq(bash(code, wall_ms=400)["outcome"], "wall_limit", f"wall time ends a script that {name}")
    for name, code in {"leaves a child": "(sleep 60 &); exit 0", "leaves a job": "set -m; sleep 60 & disown; exit 0",
                       "leaves a bomb": ":(){ sleep 0.1; :|:& };:"}.items():  # whose first two forks succeed
        left = bash(code, wall_ms=30000, pids=16)
        ok(left["outcome"] == "ok" and left["metrics"]["exec_us"] < 20000000, f"nobody waits for a script that {name}", left)
    few = "for i in $(seq {n}); do sleep 0.3 & done; wait"
    eq(bash(few.format(n=5), pids=6)["stderr"], "", "five processes and the first are six")
    ok("Resource temporarily unavailable" in bash(few.format(n=6), pids=6)["stderr"], "one more has to wait for its turn")
    crowd = bash("for i in $(seq 40); do sleep 60 & done; wait", pids=4, wall_ms=4000)
    eq(crowd["outcome"], "wall_limit", "one that tries again and again ends with its time")
    ok(not CGROUP["pids"] or crowd["evidence"]["refused"] > 0, "and the evidence says what it was refused", crowd)
    if CGROUP["cpu_ms"]:
        four = bash("for i in 1 2 3 4; do (trap '' XCPU; while :; do :; done) & done; wait", cpu_ms=400, cpu_percent=400, wall_ms=20000)
        eq(four["outcome"], "cpu_limit", "cpu time of all processes counts together")
        ok(400 <= four["evidence"]["used_ms"] < 3000, "and is told", four)
        halves = bash("for i in 1 2 3 4; do (while :; do :; done) & done; sleep 1.5; kill %1 %2 %3 %4; exit 0", cpu_percent=50)
        ok(cpu_us(halves) < 0.65 * halves["metrics"]["exec_us"], "and so does their share of a processor", halves)
    if CGROUP["memory_bytes"]:
        eats = "x() {{ head -c {n}000000 /dev/zero | tail -c {n}000000 | cksum; }}; for i in 1 2 3 4; do x & done; wait"
        eq(bash(eats.format(n=5), **ROOMY)["outcome"], "ok", "four processes of five MB are twenty")
        eq(bash(eats.format(n=40), **ROOMY)["outcome"], "memory_limit", "of forty a hundred and sixty")
    large = bash("head -c 300000 /dev/zero > f", file_bytes=256 * KIB)
    eq((large["outcome"], large["evidence"]["limit"]), ("disk_limit", "file_bytes"), "the limit of a file is every process's")

# ---- limits that were asked for, and limits above the ceiling ----------------------------------

asked = client.call("hello")["limits"]["most"]
for name, most in asked.items():
    if name == "file_bytes":
        continue
    error, _ = client.receive(client.send("run", language="python", code="pass", limits={name: most + 1}))
    told = (error or {}).get("data") or {}
    eq((told.get("pointer"), told.get("reason")), (f"/limits/{name}", "range"), f"more than the host gives is refused: {name}")

last = run("print(1)")
ok((last["runtime"]["digest"] or "").startswith("sha256:"), "a result says which interpreter it had", last["runtime"])
eq((last["outcome"], last["limits"] == plain["limits"], "evidence" in last), ("ok", True, False),
   "after all this a run that asks for nothing has what the first one had")

done()
