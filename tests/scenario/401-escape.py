"""Programs that try to leave the jail or to see outside it, each sent through the socket."""

import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import threading
import time

from wire import Client, command, daemon_pid, done, eq, mark, marked, ok, wait_until

spawner = int(sys.argv[1])
client = Client()
AS_ROOT = os.getuid() == 0
MIB = 1 << 20

PRELUDE = r"""
import ctypes, errno, json, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]

def named(number):
    return errno.errorcode.get(number, str(number))

def call(number, *args):
    ctypes.set_errno(0)
    found = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return named(ctypes.get_errno()) if found < 0 else found

def mapped(prot, flags, fd=-1, length=4096):
    ctypes.set_errno(0)
    at = libc.mmap(None, length, prot, flags, fd, 0)
    return named(ctypes.get_errno()) if at in (None, 2**64 - 1) else "mapped"

def tried(function, *args, **named_args):
    try:
        return function(*args, **named_args)
    except OSError as error:
        return named(error.errno)
"""


def run(code, **params):
    return client.run(PRELUDE + code, policy="observe", **params)


def said(result):
    return result["stdout"].strip(), result["outcome"]


def tell(expression, **params):
    """The value of an expression inside the jail, passed as JSON."""
    result = run(f"print(json.dumps({expression}))", **params)
    try:
        return json.loads(result["stdout"])
    except ValueError:
        return result["outcome"] + result["stderr"]


EATER, SLEEPER = 41, 42  # real-time signals, as marks


held = client.run("pass", policy="observe")["limits"]["enforced_by"]
HAS_CGROUP = held["memory_bytes"] != "rlimit"

# ---- calls that end the run --------------------------------------------------------------------

KILLS = {
    "ptrace": "call(101, 0)", "process_vm_readv": "call(310, 1, 0, 0, 0, 0, 0)", "kcmp": "call(312, 1, 2)",
    "process_vm_writev": "call(311, 1, 0, 0, 0, 0, 0)", "pidfd_getfd": "call(438, 3, 0, 0)", "bpf": "call(321, 0)",
    "userfaultfd": "call(323, 0)", "perf_event_open": "call(298, 0)", "io_uring_enter": "call(426, 3, 1, 0, 0, 0, 0)",
    "keyctl": "call(250, 0, -3, 0)", "add_key": "call(248, b'user', b'a', b'b', 1, -3)", "setns": "call(308, 0, 0)",
    "mount": "call(165, b'none', b'/work', b'tmpfs', 0, 0)", "fsopen": "call(430, b'tmpfs', 0)", "chroot": "call(161, b'/work')",
    "open_tree": "call(428, -100, b'/work', 1)", "mount_setattr": "call(442, -100, b'/', 0, b' ' * 32, 32)",
    "unshare": "call(272, 0x10000000)", "open_by_handle_at": "call(304, -100, 0, 0)", "personality": "call(135, 0x400000)",
    "seccomp": "call(317, 1, 0, 0)", "a clone into a user namespace": "call(56, 0x10000000 | 17)",
    "a thread in a network namespace": "call(56, 0x40010f00)", "the x32 entry": "call(0x40000000 | 39)",
}
for name, expression in KILLS.items():
    result = run(f"{expression}; print('alive')")
    eq((result["outcome"], result["stdout"]), ("syscall_denied", ""), f"{name} ends the run")
    named = result.get("evidence", {}).get("syscall", {}).get("name")
    hoped = None if "x32" in name else "clone" if " " in name else name
    eq((named, [call["call"] for call in result.get("refused_calls", []) if call["ended"]]), (hoped, [hoped] if hoped else []),
       f"{name} is named")

# The kernel asks no filter about the calls of its own uprobes (335, 336), and refuses all other callers.
eq((lambda end: end["outcome"] == "signal" and end["evidence"]["signal"] in ("SIGILL", "SIGSEGV") or end["stdout"] in ("EPERM\n", "ENOSYS\n"))(
    run("print(call(335))")), True, "a return probe's call is not for programs")
ok(tell("call(336)") in ("ENXIO", "EPERM", "ENOSYS"), "nor is a probe's")

# A jump to a gadget in the C library, since no memory is both writable and executable.
result = run(r"""
page = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095
for at in range(page - 80 * 4096, page + 200 * 4096, 4096):
    place = ctypes.string_at(at, 4096).find(b"\xcd\x80")
    if place >= 0:
        print("found", flush=True)
        ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_double)(at + place)(1.0)
""")
# A kernel may be without that entry (ia32_emulation=off): the instruction then is a fault anywhere.
I386_GETPID = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
has_entry = subprocess.run(["/usr/bin/python3", "-c", I386_GETPID], check=False).returncode == 0
if "found" in result["stdout"]:
    eq(result["outcome"], "syscall_denied" if has_entry else "signal", "the i386 entry ends the run")

# ---- calls that are refused --------------------------------------------------------------------

PROGRAMS = tell("sorted(os.listdir('/usr/bin'))")
INTERPRETER = PROGRAMS[0]
REFUSED = {
    "writable and executable memory": ("mapped(7, 0x22)", "EPERM"),
    "executable memory of nobody's file": ("mapped(5, 0x22)", "EPERM"),
    "running what it wrote to a file": ("mapped(5, 2, (open('a', 'wb').write(b'x' * 4096), os.open('a', 0))[1])", "EPERM"),
    "running /dev/zero": ("mapped(5, 2, os.open('/dev/zero', 0))", "EPERM"),
    "making memory executable": ("call(10, ctypes.addressof(ctypes.c_int()) & ~4095, 4096, 5)", "EPERM"),
    "the host's huge pages": ("mapped(3, 0x40022, length=2 << 20)", "EPERM"),
    "pinned memory": ("mapped(3, 0x2022)", "EPERM"),
    "a file of nowhere": ("call(319, b'x', 0)", "ENOSYS"),
    "another program": (f"call(59, b'/usr/bin/{INTERPRETER}', 0, 0)", "EPERM"),
    "a program by descriptor": ("call(322, 3, b'', 0, 0, 0x1000)", "EPERM"),
    "a child": ("[call(57), call(58), call(56, 17)]", ["EPERM"] * 3),
    "a table of descriptors of its own": ("[call(436, 900, 901, f) for f in (2, 6, 2 | 1 << 32)]", ["EPERM"] * 3),
    "a thread with one": ("call(56, 0x10900)", "EPERM"),
    "clone3": ("call(435, b' ' * 88, 88)", "ENOSYS"),
    "a socket of any family": ("sorted({str(call(41, f, t, 0)) for f in range(46) for t in (1, 2, 3, 5)})", ["EPERM"]),
    "a pair of another family": ("[call(53, f, 1, 0, b' ' * 8) for f in (2, 16, 40, 1 | 1 << 32)]", ["EPERM"] * 4),
    "sending a descriptor": ("tried(socket.send_fds, socket.socketpair()[0], [b'x'], [0])", "EPERM"),
    "a name in the air": ("tried(socket.socketpair()[0].sendto, b'x', chr(0) + 'name')", "EPERM"),
    "a pair for datagrams": ("tried(socket.socketpair, 1, 2)", "EPERM"),
    "urgent bytes": ("tried(socket.socketpair()[0].send, b'x', socket.MSG_OOB)", "EPERM"),
    "asking who is behind the job socket": ("tried(socket.socket(fileno=os.dup(3)).getsockopt, 1, 17, 12)", "EPERM"),
    "a pidfd": ("call(434, 1, 0)", "ENOSYS"),
    "a ring of io_uring": ("call(425, 1, b' ' * 200)", "ENOSYS"),
    "shared memory, semaphores, messages and queues":
        ("[call(29, 0, 4096, 0o1600), call(64, 0, 1, 0o1600), call(68, 0, 0o1600), call(240, b'x', 66, 384, 0)]", ["EPERM"] * 4),
    "all of prctl but reading a name": ("sorted({str(call(157, n, 1, 0, 0, 0)) for n in (1, 3, 4, 8, 22, 23, 24, 26, 28, 35, 36, 38, 47)})", ["EPERM"]),
    "a name of its own, which would stand in the kernel's log": ("call(157, 15, b'a' + bytes([10]) + b'b', 0, 0, 0)", "EPERM"),
    "rights": ("[call(126, 0, 0), call(105, 0), call(117, 0, 0, 0)]", ["EPERM"] * 3),
    "raising a limit": ("[call(160, 7, b'!' * 16), call(302, 0, 7, b'!' * 16, 0)]", ["EPERM"] * 2),
    "a better place in the queue": ("[call(141, 0, 0, -5), call(144, 0, 1, b' ' * 4), call(203, 0, 8, b' ' * 8), call(251, 1, 0, 0)]", ["EPERM"] * 4),
    "locks, leases, owners and larger pipes": ("[call(72, 1, n, 1 << 20) for n in (6, 8, 10, 1024, 1026, 1031, 1033)]", ["EPERM"] * 7),
    "typing on a terminal": ("[call(16, 0, 0x5412, b'x'), call(16, 0, 0x5412 | 1 << 32, b'x')]", ["EPERM"] * 2),
    "links, pipes with a name and devices":
        ("[call(88, b'/etc/passwd', b'l'), call(86, b'a', b'h'), call(133, b'f', 0o10600, 0), call(133, b'd', 0o20600, 0x103)]", ["EPERM"] * 4),
    "throwing out what others have cached": (f"call(221, os.open('/usr/bin/{INTERPRETER}', 0), 0, 0, 4)", "EPERM"),
    "asking what others have cached": (f"tried(os.preadv, os.open('/usr/bin/{INTERPRETER}', 0), [bytearray(9)], 0, os.RWF_NOWAIT)", "ENOTSUP"),
    "having its pages merged": ("call(28, ctypes.addressof(ctypes.c_int()) & ~4095, 4096, 12)", "EPERM"),
    "an alarm that wakes the machine": ("[call(283, c, 0) for c in (8, 9)]", ["EPERM"] * 2),
}
found = tell("[" + ", ".join(expression for expression, _ in REFUSED.values()) + "]")
for at, (name, (_, hoped)) in enumerate(REFUSED.items()):
    eq(found[at] if isinstance(found, list) else found, hoped, f"refused: {name}")

# Machine code that the caller sends: eax = 42, return.
STDIN = b"\xb8\x2a\0\0\0\xc3" + bytes(5000)
eq(run("print(mapped(5, 2, 0), mapped(5, 1, 0), len(sys.stdin.buffer.read()))", stdin=STDIN)["stdout"].strip(), f"EPERM EPERM {len(STDIN)}",
   "refused: running what came on stdin")

# The limit of descriptors applies to a descriptor table, and threads share one table.
TABLES = """
def fill(): call(436, 900, 901, 2); [tried(os.dup, 0) for _ in range(300)]
crowd = [threading.Thread(target=fill) for _ in range(8)]
for one in crowd: one.start()
for one in crowd: one.join()
print(sum(tried(os.fstat, n) != 'EBADF' for n in range(256)), tried(os.dup, 0))
"""
eq(run(TABLES)["stdout"].strip(), "256 EMFILE", "threads have together as many descriptors as one")

# ---- files -------------------------------------------------------------------------------------

ROADS = "['/proc', '/sys', '/run', '/var', '/home', '/root', '/boot', '/etc/shadow', '/etc/hostname', '/work/../work/work', '/tmp/../etc/../root']"
eq(tell(f"[p for p in {ROADS} if os.path.exists(p)]"), [], "nothing of the host is there")
ok(len(PROGRAMS) == 1 and re.fullmatch(r"python3\.\d+", INTERPRETER), "no program is there but the interpreter", PROGRAMS)
eq(tell("[tried(open, p, 'w') for p in ('/x', '/ced/x', '/usr/x', '/etc/passwd', '/dev/x')]"), ["EROFS"] * 5,
   "what it did not bring is read-only")
eq(tell("[tried(open, p, 'w') for p in ('/dev/zero', '/dev/full', '/dev/random', '/dev/urandom')]"), ["EACCES"] * 4,
   "Landlock holds: devices that anybody may write to cannot be opened for it")
eq(tell("[tried(os.rename, a, b) for a, b in (('/work', '/tmp/w'), ('/tmp', '/work/t'))] + "
        "[tried(os.rename, (os.makedirs('d/e'), 'd')[1], '/tmp/d')]"), ["EXDEV", "EXDEV", "EXDEV"],
   "no folder moves out of its tree")
eq(tell("(os.makedirs('a/b'), os.chdir('a/b'), os.rename('/work/a/b', '/work/c'), sorted(os.listdir('../..')))[3]"),
   sorted(tell("os.listdir('/')")), "a folder that moved leads to the same root")
eq(tell("(open('f', 'w').close(), os.chmod('f', 0o6777), bool(os.statvfs('f').f_flag & os.ST_NOSUID))[2]"), True,
   "its own set-uid bits mean nothing")

# ---- who it is and what it sees ----------------------------------------------------------------

fixed = {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
         "NUMEXPR_NUM_THREADS", "MPLCONFIGDIR"}
eq(set(tell("dict(os.environ)")), fixed, "its environment is the fixed one")
eq(tell("[os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0)]"), [2, 0, 2, 2], "it knows no process but itself and init")
eq(tell("[p for p in range(1, 3000) if call(62, p, 0) == 0]"), [1, 2], "and can name no other")
# Without root the daemon cannot drop the supplementary groups of its user.
groups = [] if AS_ROOT else [1000 if gid == os.getgid() else 65534 for gid in os.getgroups()]
eq(tell("[list(os.getresuid()), list(os.getresgid()), os.getgroups()]"), [[1000] * 3, [1000] * 3, groups], "it is user 1000")
eq(tell("[os.uname().nodename, os.getcwd(), oct(os.umask(0))]"), ["sandbox", "/work", "0o22"], "hostname, folder and umask are constants")
eq(tell("[i for i in range(5000) if tried(os.fstat, i) != 'EBADF']"), [0, 1, 2, 3], "it has four descriptors")
eq(tell("__import__('signal').getsignal(2) is __import__('signal').default_int_handler"), True,
   "what the host's shell ignores, it does not")
eq(tell("tried(os.sysconf, 'SC_OPEN_MAX')"), 256, "it has as many descriptors as it was given")

# ---- forged words ------------------------------------------------------------------------------

SAY = "import struct\ndef say(kind, body=b'', code=0, length=None):\n" \
    "    head = struct.pack('=IIIi', 0x43454401, kind, len(body) if length is None else length, code)\n" \
    "    return tried(os.write, 3, head + body)\n"
FORGED = {
    "an error that never was": ("say(5, b'{\"type\":\"Evil\",\"message\":\"x\",\"line\":-1}'); os._exit(7)", "exception"),
    "an error of 200,000 brackets": ("say(5, b'[' * 200000); os._exit(7)", "exit"),
    "that it never began": ("say(3, b'broken'); time.sleep(0.2)", "ok"),
    "readiness of a warm worker": ("say(2, code=2**31 - 1); say(2, code=-2**31)", "ok"),
    "a length of 4 GiB": ("say(5, length=2**32 - 1)", "ok"),
    "noise": ("os.write(3, b'A' * 100000)", "ok"),
    "a job": ("say(1)", "ok"),
    "nothing, having closed it": ("os.close(3)", "ok"),
    "ten thousand beginnings": ("print({str(say(4)) for _ in range(10000)})", "ok"),
}
FORGED["that it is done, from a thread, and is not"] = (
    "threading.Thread(target=lambda: say(6), daemon=True).start()\ntime.sleep(60)", "ok")
FORGED["a slot's word about its end, on every descriptor"] = (
    "word = struct.pack('=II', 0x43454401, 13) + bytes(632)\nfor fd in range(3, 256): tried(os.write, fd, word)", "ok")
for name, (code, outcome) in FORGED.items():
    eq(run(SAY + code)["outcome"], outcome, f"it tells on the job socket: {name}")
eq(said(run("print('well')")), ("well", "ok"), "and the next run is as ever")
result = run(SAY + "libc.socket(2, 1, 0); say(6); libc.socket(10, 1, 0); time.sleep(60)")
eq((result["outcome"], [(call["call"], call["kind"]) for call in result["refused_calls"]][:1]), ("ok", [("socket", "AF_INET")]),
   "who says that it is done hides nothing that it was refused before")
eq("refused_calls" in run("print('well')"), False, "and what one run was refused is not told of the next")

# ---- limits ------------------------------------------------------------------------------------

quick = {"wall_ms": 800, "cpu_ms": 5000, "memory_bytes": 64 * MIB}
STUBBORN = {
    "stops itself": "os.kill(os.getpid(), 19)",
    "stops its group": "os.kill(0, 19)",
    "closes every descriptor": "os.closerange(0, 256); time.sleep(60)",
    "ends its main thread": "threading.Thread(target=time.sleep, args=(60,)).start(); call(60, 0)",
    "tries to kill init first": "[call(62, 1, n) for n in (9, 19, 15)]; time.sleep(60)",
}
MARK = mark(EATER)
for name, code in STUBBORN.items():
    eq(run(MARK + code, limits=quick)["outcome"], "wall_limit", f"wall time ends a program that {name}")
eq(run("import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", limits=dict(quick, wall_ms=60000, cpu_ms=800))["outcome"],
   "cpu_limit", "cpu time ends a program that ignores its signal")
EATS = {
    "ordinary memory": "b = []\nwhile True: b.append(bytearray(1 << 20))",
    "shared memory": "import mmap\nm = mmap.mmap(-1, 1 << 29)\nfor i in range(0, 1 << 29, 4096): m[i] = 1",
    "page tables": "import mmap\nm = mmap.mmap(-1, 1 << 40, flags=0x4022, prot=1)\nfor i in range(0, 1 << 40, 1 << 21): m[i]",
    "files": "f = open('f', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "socket buffers": "b = []\nwhile True:\n  b.append(socket.socketpair())\n  for s in b[-1]:\n"
                      "    s.setblocking(0)\n    while tried(s.send, bytes(1 << 16)) == 1 << 16: pass",
}
for name, code in EATS.items() if HAS_CGROUP else [next(iter(EATS.items()))]:
    limits = {"memory_bytes": 48 * MIB, "disk_bytes": 256 * MIB, "wall_ms": 10000, "cpu_ms": 10000}
    eq(run(MARK + code, limits=limits)["outcome"], "memory_limit", f"memory ends a program that eats {name}")
for folder in "/work", "/tmp":
    full = run(f"n = 0\nwith open('{folder}/f', 'wb', 0) as f:\n  while True: n += tried(f.write, bytes(4096)) if n < 1 << 20 else f.write(b'x')",
               limits={"disk_bytes": MIB})
    eq(full["outcome"], "disk_limit", f"{folder} takes what it was given")
    crowd = run(f"for i in range(500): open('{folder}/%d' % i, 'w').close()", limits={"inodes": 100})
    eq((crowd["outcome"], crowd["evidence"]["used_inodes"]), ("disk_limit", 100), f"and so many files")
eq(tell("tried(os.truncate, (open('f', 'w').close(), 'f')[1], 1 << 40)"), "EFBIG", "no file is larger than the disk, holes or not")
threads = run(MARK + "def f(): time.sleep(60)\nn = 0\nwhile True: threading.Thread(target=f, daemon=True).start(); n += 1; print(n, flush=True)",
              limits={"pids": 5})
eq(threads["outcome"], "pids_limit", "threads are counted")
if held["pids"] != "rlimit":
    eq(threads["stdout"].split()[-1], "4", "exactly")
eq(said(run("t = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(20)]\nfor x in t: x.start()\nprint(len(t))")),
   ("20", "ok"), "twenty threads fit into the memory of a run that asks for none")
ok(wait_until(lambda: not marked(spawner, EATER)), "and no process of all these is left")

# ---- two that are alive together ---------------------------------------------------------------


def together(first, second, pause=0.5):
    told = {}

    def go(name, code):
        told[name] = Client().run(PRELUDE + code, policy="observe", limits={"wall_ms": 30000, "cpu_ms": 30000})["stdout"].strip()

    thread = threading.Thread(target=go, args=("first", first))
    thread.start()
    time.sleep(pause)
    go("second", second)
    thread.join()
    return told


TIMERS = "n = 0\nwhile n < 1000 and call(222, 0, 0, ctypes.create_string_buffer(8)) == 0: n += 1\nprint(n, flush=True)\n"
timers = together(TIMERS + "time.sleep(1)", TIMERS)
ok(min(map(int, timers.values())) > 250, "neighbours take no timers from each other", timers)
eq(together("open('/tmp/x', 'w').close(); open('/work/x', 'w').close(); time.sleep(1); print(os.listdir('/tmp'))",
            "print(os.listdir('/tmp'), os.listdir('/work'))"),
   {"first": "['x']", "second": "[] ['main.py']"}, "nor see each other's files")
eq(together("time.sleep(1); print('alive')", "call(62, -1, 9); [call(62, p, 9) for p in range(3, 40000)]; print('done')"),
   {"first": "alive", "second": "done"}, "nor can one kill the other")

# ---- what one leaves to the next ---------------------------------------------------------------

PLANT = r"""
import builtins, signal, json as j
builtins.planted = j.planted = sys.planted = os.planted = 1
os.environ["PLANTED"] = "1"; os.putenv("PLANTED", "1"); libc.setenv(b"PLANTED", b"1", 1)
os.umask(0o777); signal.signal(signal.SIGUSR1, signal.SIG_IGN); signal.pthread_sigmask(0, [signal.SIGTERM])
sys.path.append("/planted"); sys.setrecursionlimit(77); sys.setswitchinterval(1)
for place in "/work/planted", "/tmp/planted": open(place, "w").write("planted")
os.set_blocking(0, False); os.set_blocking(1, False)
signal.setitimer(signal.ITIMER_REAL, 3600)
for n in range(50): call(222, 0, 0, ctypes.create_string_buffer(8))
libc.prctl(15, b"planted"); libc.srand(1)
secret = bytearray(b"planted secret " * 1000)
libc.malloc.restype = ctypes.c_void_p
ctypes.memmove(libc.malloc(100000), bytes(secret), len(secret))
threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
time.tzset(); os.environ["TZ"] = "Asia/Tokyo"; time.tzset()
"""
PROBE = r"""
import builtins, signal, json as j
name = ctypes.create_string_buffer(16); libc.prctl(16, name)
libc.getenv.restype = ctypes.c_char_p
print([hasattr(m, "planted") for m in (builtins, j, sys, os)], "PLANTED" in os.environ, libc.getenv(b"PLANTED"), oct(os.umask(0)),
      signal.getsignal(10).name, len(signal.pthread_sigmask(0, [])), len(signal.sigpending()), "/planted" in sys.path, sys.getrecursionlimit(),
      os.listdir("/tmp"), "planted" in os.listdir("/work"), os.get_blocking(0), os.get_blocking(1), signal.getitimer(0),
      threading.active_count(), time.tzname, name.value == b"planted", call(222, 0, 0, b"12345678"))
"""
before = run(PROBE)["stdout"]
for _ in range(4):  # as many as there are slots, so that every slot gets a plant and a probe
    run(PLANT)
probes = {run(PROBE)["stdout"] for _ in range(4)}
eq(probes, {before}, "what one run plants, no later one in its slot finds")

# Host names that a program looks up stay charged to its cgroup after its death.
if HAS_CGROUP:
    LOOK = "own = time.time_ns()\nfor i in range(200000): libc.access(b'/usr/lib/%d-%d-%s' % (own, i, b'n' * 160), 0)"
    left = [run(LOOK, limits={"wall_ms": 60000, "cpu_ms": 60000})["metrics"]["memory_peak_bytes"] for _ in range(4)]
    ok(min(left) > 64 * MIB, "a program that looks up many names takes memory", left)
    found = [run("pass")["metrics"]["memory_peak_bytes"] for _ in range(8)]
    ok(max(found) < min(left) / 2, "and little of it is in the account of who comes after it", found)

# ---- facts from outside ------------------------------------------------------------------------


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def sleeper():
    Client().run(PRELUDE + mark(SLEEPER) + "time.sleep(4)", policy="observe")


sleepers = [threading.Thread(target=sleeper) for _ in range(2)]
for thread in sleepers:
    thread.start()
ok(wait_until(lambda: len(marked(spawner, SLEEPER)) == 2), "two programs run side by side")
facts = {pid: status(pid) for pid in marked(spawner, SLEEPER)}
for key in "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
    eq({int(fact[key], 16) for fact in facts.values()}, {0}, f"they have no capability in {key}")
eq({(fact["NoNewPrivs"], fact["Seccomp"], fact["Seccomp_filters"]) for fact in facts.values()}, {("1", "2", "3")},
   "they gain nothing by exec and live under three filters")
eq({fact["NSpid"].split()[-1] for fact in facts.values()}, {"2"}, "each is process 2 of its own namespace")


def links(pid):
    return {name: os.readlink(f"/proc/{pid}/ns/{name}") for name in ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup")}


def filters_of(pid):
    """Its seccomp filters, read from the kernel; None if we may not ask."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(0x4206, pid, 0, 0) < 0 or libc.ptrace(0x4207, pid, 0, 0) < 0:
        return None
    os.waitpid(pid, 0x40000000)
    found = []
    while (count := libc.ptrace(0x420C, pid, len(found), 0)) > 0:
        code = ctypes.create_string_buffer(count * 8)
        libc.ptrace(0x420C, pid, len(found), ctypes.addressof(code))
        found.append([struct.unpack_from("<HBBI", code.raw, at * 8) for at in range(count)])
    libc.ptrace(17, pid, 0, 0)
    return found


def verdict(code, number, arch=0xC000003E):
    """One filter's verdict on a call without arguments."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *[0] * 6)
    a = at = 0
    while True:
        op, yes, no, k = code[at]
        at += 1
        if op == 0x20:
            a = struct.unpack_from("<I", data, k)[0]
        elif op == 0x06:
            return k
        elif op == 0x05:
            at += k
        elif op == 0x54:
            a &= k
        else:
            at += yes if {0x15: a == k, 0x25: a > k, 0x35: a >= k, 0x45: bool(a & k)}[op] else no


def strictest(filters, number, arch=0xC000003E):
    order = [0x80000000, 0x50000, 0x7FC00000, 0x7FF00000, 0x7FFF0000]
    return min((verdict(code, number, arch) for code in filters), key=lambda found: order.index(found & 0xFFFF0000))


if AS_ROOT:
    first, second = (links(pid) for pid in facts)
    own = links("self")
    eq([name for name in own if own[name] in (first[name], second[name]) or first[name] == second[name]], [],
       "no namespace is the host's or the neighbour's")
    eq(len({fact["Uid"].split()[0] for fact in facts.values()}), 2, "each slot has a uid of its own on the host")
    ok(all(int(fact["Uid"].split()[0]) >= 400000 for fact in facts.values()), "which is nobody's")
    ok(all(str(os.stat(f"/proc/{pid}/mem").st_uid) != fact["Uid"].split()[0] for pid, fact in facts.items()), "they leave no core")
    filters = filters_of(next(iter(facts)))
    if filters:
        red = [101, 135, 154, 155, 161, 165, 166, 246, 248, 250, 272, 298, 304, 308, 310, 311, 312, 317, 320, 321, 323,
               426, 428, 429, 430, 431, 432, 433, 438, 442]
        eq([n for n in red if strictest(filters, n) != 0x7FC00000], [], "the filters that the kernel has ask the slot about what has no innocent use")
        refused = [29, 41, 42, 49, 50, 56, 57, 58, 59, 64, 68, 86, 88, 99, 105, 126, 133, 144, 160, 203, 274, 307, 322]
        eq([n for n in refused if strictest(filters, n) not in (0x50001, 0x7FC00000)], [], "and refuse what a program has no business with")
        eq({strictest(filters, n, 0x40000003) for n in range(500)} | {strictest(filters, 0x40000000 | n) for n in range(600)},
           {0x80000000}, "no other entry into the kernel is open")
        eq({strictest(filters, n) for n in range(473, 1024)}, {0x50001}, "and no call that is yet to be invented")
for thread in sleepers:
    thread.join()
ok(wait_until(lambda: not marked(spawner, SLEEPER)), "and they are gone")
ok(daemon_pid(spawner) is not None and command(spawner), "the house stands")
done()
