"""Hostile cells of a session.  Nothing of them runs between cells, reaches another cell's client, or outlives the session."""

import os
import signal
import sys
import time

from still import leaves_nothing, stands_still
from wire import Client, children, daemon_pid, descriptors, done, eq, lives, mark, marked, ok, wait_until

spawner = int(sys.argv[1])
client = Client()
MARK = 42

SAY = r"""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def say(kind, code=0, body=b""): os.write(3, struct.pack("<IIIi", 0x43454401, kind, len(body), code) + body)
"""
DONE = 6


def opened(**params):
    return client.call("session.open", language="python", policy="observe", states=0, **params)["session"]


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" else result


def close(session):
    client.call("session.close", session=session)


def close_if_open(session):
    """Of a session whose process may be about to die."""
    error, _ = client.receive(client.send("session.close", session=session))
    if error and error["code"] != "not_found":
        raise RuntimeError(error)


def sessions():
    return {session["session"] for session in client.call("session.list")["sessions"]}


def pid_of(session):
    """The host's pid of the session's process."""
    cell(session, mark(MARK))
    found = marked(spawner, MARK)
    cell(session, f"import signal\nsignal.signal({MARK}, signal.SIG_DFL)")
    return found[0]


# ---- nothing runs between cells ------------------------------------------------------------------

session = opened()
pid = pid_of(session)
stands_still(pid, "a plain session")
cell(session, """
import threading, time
count = 0
def spin():
    global count
    while True: count += 1
threads = [threading.Thread(target=spin, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
""")
stands_still(pid, "a thread that computes")
goes_on = cell(session, "seen = count\nwhile count == seen: time.sleep(0.001)\nprint('on')", limits={"wall_ms": 60000})
eq((goes_on["outcome"], goes_on["stdout"]), ("ok", "on\n"), "its thread goes on with the next cell")
cell(session, "go = False\ndef spin(): pass")
close(session)
ok(wait_until(lambda: not lives(pid)), "and ends with the session")

session = opened()
pid = pid_of(session)
cell(session, SAY + """
import signal
fired = 0
def on_alarm(number, frame):
    global fired
    fired += 1
signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
""")
stands_still(pid, "an interval timer")
# A timer that sends SIGCONT wakes what was merely stopped.
result = cell(session, """
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("pad", ctypes.c_char * 48)]
event, timer = Event(None, signal.SIGCONT, 0), ctypes.c_void_p()
made = libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer))
spec = (ctypes.c_long * 4)(0, 5_000_000, 0, 5_000_000)
print(made, made == 0 and libc.timer_settime(timer, 0, ctypes.byref(spec), None))
signal.setitimer(signal.ITIMER_REAL, 0)
""")
stands_still(pid, f"a timer that sends SIGCONT ({result['stdout'].strip()})")
os.kill(pid, signal.SIGCONT)
stands_still(pid, "a process that somebody sends SIGCONT")
eq(printed(session, "print('on')"), "on\n", "and the next cell runs")
close(session)
session = opened()
result = cell(session, "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nprint('went on')", limits={"wall_ms": 1000})
ok(result["outcome"] in ("wall_limit", "signal", "syscall_denied", "ok", "exception"), "a cell that stops itself is over in time", result)
close_if_open(session)

# A cell that is over stands still while its files are gathered, and its process dies of a timer meanwhile.
told = set()
for delay in range(1, 40, 3):
    session = opened()
    result = cell(session, """
import os, signal
for number in range(2000): open(f'f{number}', 'w').close()
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.setitimer(signal.ITIMER_REAL, DELAY)
""".replace("DELAY", str(delay / 1000)), artifacts=["f*"])
    told.add(result["outcome"])
    close_if_open(session)
ok(told <= {"ok", "signal"}, "a process that dies while its files are gathered is told as that", told)

# ---- what an earlier cell left behind ------------------------------------------------------------

session = opened()
cell(session, """
import os, threading, time
kept = [os.dup(1), os.dup(2)]
def shout():
    while True:
        for fd in kept:
            try: os.write(fd, b"from the past\\n")
            except OSError as error: errors.add(type(error).__name__)
        time.sleep(0.001)
errors = set()
threading.Thread(target=shout, daemon=True).start()
""")
for _ in range(3):
    result = cell(session, "import time\ntime.sleep(0.1)\nprint('now')")
    eq((result["outcome"], result["stdout"], result["stderr"]), ("ok", "now\n", ""), "an old pipe reaches nobody in a later cell")
eq(printed(session, "print(errors)"), "{'BrokenPipeError'}\n", "since it is broken")
close(session)

session = opened()
cell(session, """
import os, sys, threading
def flood():
    while True:
        try: os.write(1, b"x" * 10000)
        except OSError: pass
threading.Thread(target=flood, daemon=True).start()
""", on_output_limit="truncate")
for _ in range(3):
    result = cell(session, "pass", on_output_limit="truncate", limits={"stdout_bytes": 1000})
    ok(result["outcome"] in ("ok", "output_limit") and len(result["stdout"]) <= 1000, "a thread that floods stdout is held to each cell's limit", result["outcome"])
    if result["outcome"] != "ok":
        break
if session in sessions():
    result = cell(session, "import time\ntime.sleep(0.2)", limits={"stdout_bytes": 1000})
    eq((result["outcome"], result["session"]["state"]), ("output_limit", None), "or ends its session")

# ---- forged words --------------------------------------------------------------------------------

session = opened()
cell(session, SAY)
result = cell(session, f"say({DONE})\nwhile True: pass", limits={"wall_ms": 5000})
ok(result["outcome"] in ("ok", "wall_limit"), "a forged word ends a cell early", result["outcome"])
if session in sessions():
    pid = marked(spawner, MARK)
    error, later = client.receive(client.send("run", session=session, code="print('second')", limits={"wall_ms": 1500, "cpu_ms": 1000}))
    ok(error is None and later["outcome"] in ("wall_limit", "cpu_limit") and later["stdout"] == "", "its loop goes on in the next cell's time, and on its account", (error, later))
    eq(later["session"]["state"], None, "which ends the session")
session = opened()
cell(session, SAY)
result = cell(session, f"for n in range(50): say({DONE})\nprint('x')")
codes = [client.receive(client.send("run", session=session, code="print(1)")) for _ in range(3)]
# What the forging cell printed may come out in the next one: both are the session's own.
ok(all(error or result["outcome"] != "ok" or set(result["stdout"].split()) <= {"1", "x"} for error, result in codes), "words that were forged ahead mix up the session's own cells at most", codes)
close_if_open(session)
for kind in range(0, 16):
    session = opened()
    client.receive(client.send("run", session=session, code=SAY + f"say({kind}, 7, b'{{}}')\nsay({kind}, -1)"))
    client.receive(client.send("run", session=session, code="print(1)"))
    close_if_open(session)
eq(client.run("print('well')")["stdout"], "well\n", "after forged words of every kind the next run is as ever")

# ---- standard streams that a cell closes ---------------------------------------------------------

for closed in (0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2):
    session = opened()
    cell(session, "import os, sys\n" + "".join(f"os.close({fd})\n" for fd in closed))
    for number in range(2):
        result = cell(session, "print(sys.stdin.read())\nprint('err', file=sys.stderr)", stdin=f"in {number}")
        eq((result["outcome"], result["stdout"], result["stderr"]), ("ok", f"in {number}\n", "err\n"),
           f"after a cell that closes {closed} cell {number + 2} has its own streams")
    eq(printed(session, "print(sys.stdin.read())"), "\n", "and one without stdin reads nothing")
    close(session)

# ---- what is seen inside -------------------------------------------------------------------------

session = opened()
LIST = """
import os
def valid(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in range(256) if valid(fd)])
"""
plain = client.run(LIST)["stdout"]
eq(printed(session, LIST), plain, "the first cell has the descriptors of a run")
for _ in range(3):
    eq(printed(session, LIST, stdin="x"), plain, "and so has each later one")
close(session)

# The workers are few: the next ones are made in the same slots.
for turn in range(3):
    held = [opened() for _ in range(2)]
    for session in held:
        cell(session, "secret = 'of the session' * 1000\nopen('/work/left', 'w').write(secret)\nopen('/tmp/left', 'w').write(secret)\nimport os\nos.environ['LEFT'] = 'x'")
    for session in held:
        close(session)
    for _ in range(4):
        result = client.run("import os\nprint(os.listdir('/work'), os.listdir('/tmp'), 'LEFT' in os.environ, 'secret' in globals())")
        eq((result["outcome"], result["stdout"]), ("ok", "['main.py'] [] False False\n" if "main.py" in result["stdout"] else "[] [] False False\n"),
           "the next worker of a slot runs, and sees nothing of the session")

# ---- facts of a cell -----------------------------------------------------------------------------

session = opened(limits={"memory_bytes": 512 << 20})
big = cell(session, "a = bytearray(100 << 20)\nfor i in range(0, len(a), 4096): a[i] = 1\ndel a\nn = 0\nwhile n < 20_000_000: n += 1")
small = cell(session, "pass")
cpu = [result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"] for result in (big, small)]
ok(cpu[1] < cpu[0] / 4, "the cpu time of a cell is its own", cpu)
memory = [result["metrics"]["memory_peak_bytes"] for result in (big, small)]
ok(memory[0] >= 100 << 20 and memory[1] < 100 << 20, "and its memory peak", memory)
close(session)

session = opened(limits={"inodes": 5000})
result = cell(session, "for n in range(4096): open(f'f{n}', 'w').close()")
eq(result["outcome"], "ok", "4096 files can be made")
eq(printed(session, "import os\nprint(len(os.listdir('.')))"), "4096\n", "and are there in the next cell")
close(session)

# ---- death between cells -------------------------------------------------------------------------

session = opened()
pid = pid_of(session)
os.kill(pid, signal.SIGKILL)
ok(wait_until(lambda: session not in sessions()), "a process that is killed between cells ends its session")
error, _ = client.receive(client.send("run", session=session, code="1"))
eq((error["code"], error["data"]["reason"]), ("not_found", "ended"), "and a cell is told that it ended")
root = Client()
ok(wait_until(lambda: any(session in str(act) and "lost" in str(act["result"]) for act in root.call("admin.acts")["acts"])), "the record says why: lost")

# ---- many ----------------------------------------------------------------------------------------


def is_in_use(folder):
    try:
        with open(os.path.join(folder, "cgroup.procs"), encoding="ascii") as procs:
            return procs.read() != ""
    except OSError:
        return False


def held():
    """What the daemon and its jails hold: processes, descriptors, cgroups in use, mounts.

    The cgroup of a slot stays, empty, until its zygote ends."""
    return (len(children(spawner)), descriptors(daemon_pid(spawner)),
            sum(f"ced-{spawner}" in folder and is_in_use(folder) for folder, _, _ in os.walk("/sys/fs/cgroup")),
            sum(1 for _ in open(f"/proc/{daemon_pid(spawner)}/mounts", encoding="utf-8")))


def open_and_close(count):
    for turn in range(count):
        several = [opened() for _ in range(3 if turn % 50 == 0 else 1)]
        for session in several:
            if turn % 5 == 0:
                cell(session, "x = 1")
        for session in several:
            close(session)


leaves_nothing(held, open_and_close, 100, 400, "500 sessions leave no process, descriptor, cgroup or mount")
eq(sessions(), set(), "nor a session")
done()
