"""Kept states: what their users expect, and what hostile cells try."""

import glob
import os
import sys

from wire import Client, children, daemon_pid, done, eq, ok, wait_until

SPAWNER = int(sys.argv[1])
client = Client()


class Session:
    def __init__(self, states=3, **params):
        self.id = client.call("session.open", language="python", states=states, **params)["session"]

    def answer(self, code, **params):
        return client.receive(client.send("run", session=self.id, code=code, **params))

    def cell(self, code, **params):
        error, result = self.answer(code, **params)
        if error:
            raise RuntimeError(error)
        return result

    def value(self, expression):
        return self.cell(f"print({expression}, end='')")["stdout"]

    def rollback(self, state):
        error, result = client.receive(client.send("session.rollback", session=self.id, state=state))
        if error:
            raise RuntimeError(error)
        return result

    def listed(self):
        for row in client.call("session.list")["sessions"]:
            if row["session"] == self.id:
                return row
        return None

    def settled(self):
        """The list once nothing is being kept."""
        self.rollback(self.listed()["state"])  # takes its turn behind what is going on
        return self.listed()

    def close(self):
        return client.receive(client.send("session.close", session=self.id))


# ---- going back --------------------------------------------------------------------------------

s = Session()
first = s.cell("x = 1; open('f', 'w').write('one'); h = open('f'); h.read(1)")
eq(first["session"], {"id": s.id, "cell": 1, "from": 0, "state": 1, "kept": []}, "the first cell makes state 1")
s.cell("x = 2; open('f', 'w').write('longer'); open('g', 'w').close()\nimport os; os.mkdir('d')")
eq(s.settled()["kept"], [1, 2], "both states are kept")
back = s.rollback(1)
eq(back["state"], 1, "the session is back in state 1")
ok(back["took_us"] > 0, "and says how long it took")
eq(s.value("x, open('f').read(), __import__('os').listdir('.'), h.tell()"), "1 one ['f'] 1",
   "variables, files and the place in an open file are those of state 1")
eq(s.value("h.read()"), "ne", "the open file reads on")
third = s.cell("x = 3")
eq((third["session"]["from"], third["session"]["state"]), (4, 5), "the path goes on with new numbers")
s.close()

s = Session()
s.cell("import tempfile; t = tempfile.TemporaryFile(); t.write(b'one'); t.flush()")
s.cell("t.write(b' more'); t.flush(); t.seek(1)")
s.rollback(1)
eq(s.value("t.tell(), (t.seek(0), t.read())[1]"), "3 b'one'", "a deleted file that is open goes back as well")
s.cell("u = tempfile.TemporaryFile(); t.truncate(40 << 20); u.truncate(40 << 20)")
eq(s.settled().get("not_kept"), "files", "and counts like any other file")
s.close()

s = Session(states=4)
s.cell("x = [1]")
for branch in "abc":
    result = s.cell(f"x.append({branch!r}); print(x)", **{"from": 1})
    eq((result["stdout"], result["session"]["from"]), (f"[1, {branch!r}]\n", 1), f"branch {branch} begins in state 1")
eq(sorted(s.settled()["kept"]), [1, 2, 3, 4], "a state is not used up by going back")
error, _ = s.answer("1", **{"from": 99})
eq((error["code"], error["data"]["pointer"], error["data"]["reason"]), ("conflict", "/from", "state"),
   "a state that is not kept is refused")
error, _ = client.receive(client.send("session.rollback", session=s.id, state=77))
eq(error["code"], "conflict", "also by session.rollback")
eq(s.cell("print(x)")["stdout"], "[1, 'c']\n", "and the session stands where it stood")
s.close()

s = Session(states=2)
for number in range(1, 5):
    s.cell(f"x = {number}")
eq(s.settled()["kept"], [3, 4], "only the newest are kept")
s.close()

s = Session(states=0)
s.cell("x = 1")
eq(s.cell("import os; os._exit(1)")["session"]["why"], "killed", "without kept states a killed cell ends the session")
eq(s.listed(), None, "which is gone")

# ---- what cells do to states that stand -------------------------------------------------------------

SIGNAL_ALL = """
import os, signal
for pid in range(1, 200):
    if pid != os.getpid():
        try: os.kill(pid, signal.{})
        except OSError: pass
"""
s = Session(states=4)
s.cell("import signal\nheard = []\nfor name in (signal.SIGUSR1, signal.SIGCONT): signal.signal(name, lambda *_: heard.append(1))")
for name in ("SIGUSR1", "SIGTERM", "SIGRTMIN", "SIGSTOP"):
    eq(s.cell(SIGNAL_ALL.format(name))["outcome"], "ok", f"a cell sends {name} to every state")
    eq(s.cell("print(heard)", **{"from": 1}).get("stdout"), "[]\n", "which goes on as if nothing had come")
s.close()

# ---- cells that are undone -----------------------------------------------------------------------

s = Session()
s.cell("x = 1; open('f', 'w').write('kept')")
FATAL = {
    "wall_limit": ("x = 2; open('f', 'w').write('lost')\nwhile True: pass", {"limits": {"wall_ms": 400}}),
    "memory_limit": ("x = 2\nb = bytearray(1 << 30)\nprint('no')", {"limits": {"wall_ms": 60000}}),
    "exit": ("x = 2\nimport os; os.remove('f'); os._exit(3)", {}),
    "signal": ("x = 2\nimport os; os.kill(os.getpid(), 11)", {}),
    "output_limit": ("x = 2\nwhile True: print('x' * 1000)", {"limits": {"stdout_bytes": 2000, "wall_ms": 60000}}),
}
stood = 1
for outcome, (code, params) in FATAL.items():
    result = s.cell(code, **params)
    told = result["session"]
    if result["outcome"] == "exception" and outcome == "memory_limit":
        continue  # the interpreter was refused the memory, and the cell has happened
    eq((result["outcome"], told["state"], told.get("went_back")), (outcome, stood, stood), f"{outcome}: the cell is undone, and says so")
    result = s.cell("print(x, open('f').read())")
    eq(result["stdout"], "1 kept\n", f"{outcome}: variables and files are as before")
    stood = result["session"]["state"]
result = s.cell("x = 5; raise ValueError('told')")
eq((result["outcome"], result["session"]["state"]), ("exception", result["session"]["cell"]), "an exception has happened")
eq(s.value("x"), "5", "with what the cell did before it")
stood = s.settled()["state"]
for outcome, code in ("exception", "x = 6; open('g', 'w'); 1 / 0"), ("exit", "x = 7\nraise SystemExit(4)"), ("syntax_error", "x = "):
    result = s.cell(code, atomic=True)
    told = result["session"]
    eq((result["outcome"], told["state"], told.get("went_back")), (outcome, stood, stood), f"an atomic cell is undone: {outcome}")
eq(s.value("x, __import__('os').path.exists('g')"), "5 False", "nothing of them is left")
for code, params in ("x = 7\nprint('no JSON')", {}), ("x = 7\nprint({})", {"schema": {"type": "array"}}):
    stood = s.settled()["state"]
    result = s.cell(code, atomic=True, output="json", **params)
    told = result["session"]
    eq((result["outcome"], told["state"], told.get("went_back")), ("output_invalid", stood, stood), "an atomic cell is undone: output_invalid")
    eq(client.call("runs.get", run_id=result["run_id"])["session"], told, "... and the record says so")
    eq(s.value("x"), "5", "... with what it did")
result = s.cell("x = 8", atomic=True)
eq((result["outcome"], "went_back" in result["session"], s.value("x")), ("ok", False, "8"), "one that ends well has happened")
s.close()

# The folder that it stands in comes back with the others.
s = Session()
s.cell("import os; os.mkdir('d'); os.chdir('d'); open('in', 'w').write('1')")
state = s.settled()["state"]
s.cell("os.chdir('..'); os.rename('d', 'e'); os.chdir('e')")
s.settled()
s.rollback(state)
eq(s.value("os.getcwd(), open('in').read()"), "/work/d 1", "a state stands in the folder in which it stood, also in one that was renamed")
s.rollback(state)
s.cell("import shutil; shutil.rmtree('/work/d')")
s.settled()
s.rollback(state)
eq(s.value("os.getcwd(), open('in').read()"), "/work/d 1", "... or removed")
s.close()

# What ced does for a state is not told as a limit of the next cell.
s = Session(limits={"wall_ms": 60000, "pids": 1})
s.cell("x = 1")
eq(s.settled()["not_kept"], "fork", "with one process no state is kept")
eq([s.cell(code)["outcome"] for code in ("1 / 0", "import sys; sys.exit(3)")], ["exception", "exit"], "... and no cell is told to have wanted another")
s.close()
s = Session(states=0, limits={"wall_ms": 60000, "disk_bytes": 1 << 20})
s.cell("f = open('f', 'wb')\ntry:\n    while True: f.write(bytes(4096)); f.flush()\nexcept OSError: pass")
eq([s.cell(code)["outcome"] for code in ("1 / 0", "import sys; sys.exit(3)", "open('g', 'wb').write(bytes(9999))")],
   ["exception", "exit", "disk_limit"], "a disk that is full already is the limit of who needs room there")
s.close()

# What C code prints waits in the C library.
s = Session()
s.cell("import ctypes; libc = ctypes.CDLL(None)")
eq(s.cell("libc.printf(b'by C\\n'); print('by Python')")["stdout"], "by Python\nby C\n", "what C code prints is its cell's")
eq(s.cell("print(2)")["stdout"], "2\n", "... and no other's")
s.close()
eq(client.run("import ctypes; ctypes.CDLL(None).printf(b'by C\\n')")["stdout"], "by C\n", "... and a plain run's")

# ---- what cannot be kept -------------------------------------------------------------------------

s = Session()
s.cell("import threading, time; t = threading.Thread(target=time.sleep, args=(1000,), daemon=True); t.start()")
row = s.settled()
eq((row["kept"], row["not_kept"]), ([], "threads"), "a state with threads is not kept, and says why")
error, _ = s.answer("1", atomic=True)
eq((error["code"], error["data"]["pointer"], error["data"]["reason"]), ("conflict", "/atomic", "state"),
   "a cell that could not be undone is not run as an atomic one")
eq(s.value("7"), "7", "others are")
s.close()
error, _ = client.receive(client.send("run", language="python", code="1", atomic=True))
eq((error["code"], error["data"]["pointer"], error["data"]["reason"]), ("bad_request", "/atomic", "conflict"), "only cells are atomic")
s = Session(limits={"disk_bytes": 256 << 20, "memory_bytes": 1 << 29})
s.cell("with open('big', 'wb') as f: f.truncate(100 << 20)")
row = s.settled()
eq((row["kept"], row["not_kept"]), ([], "files"), "a state with too many bytes in files is not kept, and says why")
eq(s.value("__import__('os').path.getsize('big')"), str(100 << 20), "and the session goes on")
s.close()

s = Session()
s.cell("import os, stat\nfor mode in (0, 0o444, 0o200, 0o311):\n    os.makedirs(f'd{mode}/r')\n    open(f'd{mode}/r/f', 'w').write('before')\n"
       "    os.chmod(f'd{mode}/r', mode)\n    os.chmod(f'd{mode}', mode)\nos.chmod('/work', 0o444)")
row = s.settled()
eq((row["kept"][-1:], row.get("not_kept")), ([row["state"]], None), "a state with folders that nobody may search is kept")
s.cell("import shutil\nos.chmod('/work', 0o700)\nos.chmod('d0', 0o700)\nos.chmod('d292', 0o700); os.chmod('d292/r', 0o700); shutil.rmtree('d292')")
s.rollback(row["state"])
look = '''
found = [stat.S_IMODE(os.stat('/work').st_mode)]
os.chmod('/work', 0o700)
for mode in (0, 0o444, 0o200, 0o311):
    for folder in f'd{mode}', f'd{mode}/r':
        found.append(stat.S_IMODE(os.stat(folder).st_mode) == mode)
        os.chmod(folder, 0o700)
    found.append(open(f'd{mode}/r/f').read())
print(found)
'''
eq(s.cell(look)["stdout"], str([0o444] + [True, True, "before"] * 4) + "\n", "and comes back with the modes of its folders, and what is in them")
s.close()

s = Session(limits={"disk_bytes": 8 << 20})
s.cell("import os, sqlite3\nwith open('a', 'wb') as file:\n    for _ in range(2048): os.write(file.fileno(), b'x' * 4096)")
result = s.cell("sqlite3.connect('base').execute('create table t (x)')")
eq((result["outcome"], result["error"]["type"]), ("disk_limit", "sqlite3.OperationalError"), "a disk that was full before is told, too, as SQLite says it")
s.close()

s = Session()
s.cell("import signal; caught = []; signal.signal(signal.SIGUSR1, lambda *_: caught.append(1)); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
       "signal.raise_signal(signal.SIGUSR1); signal.setitimer(signal.ITIMER_REAL, 1000)")
eq(s.value("signal.getitimer(signal.ITIMER_REAL)[0] > 0, signal.SIGUSR1 in signal.sigpending()"), "True True", "timers and pending signals stay from cell to cell")
s.rollback(1)
eq(s.value("signal.getitimer(signal.ITIMER_REAL)[0], signal.sigpending(), caught"), "0.0 set() []", "and are not kept with a state")
s.close()

# ---- random numbers, generators, and what else an interpreter has ----------------------------------

s = Session()
s.cell("import random; random.seed(7)\ndef g():\n    yield 1\n    yield 2\n    yield 3\ni = g(); next(i)")
s.cell("a = random.random(); b = next(i)")
one = s.value("a, b")
s.rollback(1)
s.cell("a = random.random(); b = next(i)")
eq(s.value("a, b"), one, "random numbers and generators go on from the kept state")
s.cell("import sqlite3; db = sqlite3.connect('a.db'); db.execute('create table t (x)'); db.execute('insert into t values (1)'); db.commit()")
kept = s.listed()["state"]
s.cell("db.execute('insert into t values (2)'); db.commit()")
s.rollback(kept)
eq(s.value("db.execute('select count(*) from t').fetchone()[0]"), "1", "a database goes back with its file")
s.cell("import os; os.chmod('a.db', 0); os.mkdir('m', 0)")
kept = s.listed()["state"]
s.cell("os.chmod('a.db', 0o600); os.rmdir('m')")
s.rollback(kept)
eq(s.value("oct(os.stat('a.db').st_mode & 0o777), oct(os.stat('m').st_mode & 0o777)"), "0o0 0o0", "modes come back")
s.close()

# ---- attacks ---------------------------------------------------------------------------------------

FORKS = """
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
FLAGS = [17, 0x8000 | 17, 0x8000 | 0x01000000 | 0x00200000 | 17, 0x01000000 | 17, 0x100 | 17, 0x4000 | 0x100 | 17]
def clone(flags):
    made = libc.syscall(56, ctypes.c_ulong(flags), None, None, None, None)
    return made, ctypes.get_errno()
tried = [clone(flags)[0] for flags in FLAGS]
def other(): tried.append(clone(FLAGS[2])[0])
t = threading.Thread(target=other); t.start(); t.join()
try: tried.append(os.fork())
except OSError: tried.append(-1)
print(set(tried), end='')
"""
s = Session()
s.cell("x = 1")
s.settled()
result = s.cell(FORKS)
eq(result["stdout"], "{-1}", "a cell forks in no way, also with the flags of a kept state")
ok(any(row["call"] == "clone" for row in result.get("refused_calls", [])), "which is told", result.get("refused_calls"))
s.close()

s = Session()
s.cell("x = 1")
s.cell("x = 2")
s.settled()
result = s.cell("""
import os, signal
for pid in range(1, 400):
    if pid != os.getpid():
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass
x = 3
""")
eq((result["outcome"], s.settled()["kept"]), ("ok", [3]), "a cell that kills all it can see loses the states before it")
eq(s.value("x"), "3", "and the session goes on")
other = Session()
eq(other.value("6 * 7"), "42", "and no other session")
other.close()
s.close()

# ... and is not undone then, however it ends: there is nothing to go back to.
KILL_ALL = """
import os, signal, time
for pid in range(1, 400):
    if pid != os.getpid():
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass
"""
before = daemon_pid(SPAWNER)
for end, params in (("os._exit(3)", {}), ("time.sleep(0.3)\nos._exit(3)", {}), ("1 / 0", {"atomic": True}), ("time.sleep(0.3)\n1 / 0", {"atomic": True}),
                    ("while True: pass", {"limits": {"wall_ms": 500}}), ("os.kill(os.getpid(), 9)", {})):
    s = Session(states=2)
    s.cell("x = 1")
    s.cell("x = 2")
    s.settled()
    error, result = s.answer(KILL_ALL + end, **params)
    told = (result or {}).get("session", {})
    ok(error is None and told["state"] in (None, 2, 3), f"a cell that kills the states and ends by {end!r} {params or ''} is told", error or told)
    error, later = s.answer("print(x)")
    ok(error and error["code"] == "not_found" or later["stdout"] == "2\n", f"... and its session is over, or as it was ({told['state']})", error or later)
    s.close()
eq(daemon_pid(SPAWNER), before, "the daemon is the same")

s = Session()
s.cell("import signal\nn = 0\ndef count(*a):\n    global n\n    n += 1\nsignal.signal(signal.SIGALRM, count); signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)")
s.settled()
s.cell("signal.setitimer(signal.ITIMER_REAL, 0); m = n")
eq(s.value("n - m"), "0", "timers of a cell do not wake a kept state")
s.close()

s = Session()
s.cell("""
import os
found = []
for fd in range(256):
    try: os.fstat(fd); found.append(fd)
    except OSError: pass
""")
before = s.value("found")
s.settled()
s.rollback(s.listed()["state"])
s.cell("""
found = []
for fd in range(256):
    try: os.fstat(fd); found.append(fd)
    except OSError: pass
""")
eq(s.value("found"), before, "keeping and going back leave no descriptor in the program")
s.close()

# ---- nothing is left -------------------------------------------------------------------------------


def leaves():
    return len(glob.glob(f"/sys/fs/cgroup/**/ced-{SPAWNER}/*", recursive=True))


s = Session(states=2)
s.cell("x = 0; open('f', 'w').write('0' * 5000)")
s.cell("x = 1")
s.settled()
processes = len(children(SPAWNER))
made = leaves()
for _ in range(150):
    s.rollback(1)
    s.rollback(2)
eq(s.value("x, len(open('f').read())"), "1 5000", "300 times back and forth")
s.settled()
ok(wait_until(lambda: len(children(SPAWNER)) <= processes + 1), "leave no process", (processes, len(children(SPAWNER))))
ok(leaves() < made + 100, "and no cgroup; a busy machine may make a slot or two", (made, leaves()))
s.close()
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "all sessions are closed")
plain = client.run("print(6 * 7)")
eq((plain["outcome"], plain["stdout"]), ("ok", "42\n"), "and plain runs go on")
done()
