"""Hostile workers that are asked for a state: they speak the worker's side of the job socket themselves."""

import os
import signal
import sys
import time

from still import stands_still, ticks
from wire import Client, done, eq, lives, mark, marked, ok, wait_until

SPAWNER = int(sys.argv[1])
MARK = 42
PATIENT = {"wall_ms": 60000, "cpu_ms": 60000}
client = Client()

# The cell says itself that it is done.  Then it reads what comes, and answers a word to keep a state with attack().
PRELUDE = mark(MARK) + r"""
import array, ctypes, os, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
job = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
CELL, KEEP, WAKE, AGREED, DONE = 13, 14, 15, 16, 6
tid = ctypes.c_int()
def say(kind, code=0, body=b"", to=job): to.sendall(struct.pack("<IIIi", 0x43454401, kind, len(body), code) + body)
def hear(sock=job):
    data, control, _, _ = sock.recvmsg(16, 64)
    fds = array.array("i")
    for _, _, got in control: fds.frombytes(got[:len(got) - len(got) % 4])
    _, kind, length, code = struct.unpack("<IIIi", data)
    body = b""
    while len(body) < length: body += sock.recv(length - len(body))
    return kind, list(fds), body
# The random number with which the harness was to end this cell: it stands before the cell's text, in the job that the
# harness holds in memory.  Pages that are not there are found by writing them to a file.
def turn():
    here = ctypes.cast(libc.pwrite, ctypes.c_void_p).value & ~4095
    copy = os.open("copy", os.O_RDWR | os.O_CREAT)
    for far in range(0, 1 << 28, 4096):
        for page in here - far, here + far:
            if libc.pwrite(copy, ctypes.c_void_p(page), ctypes.c_size_t(8192), ctypes.c_long(0)) < 4096: continue
            found = os.pread(copy, 8192, 0).find(struct.pack("<II", 0x43454401, CELL))
            if 0 <= found < 4096: job = ctypes.string_at(page + found, 16 + 40 + len(BEGIN))
            if 0 <= found < 4096 and job.endswith(BEGIN): return struct.unpack_from("<I", job, 16 + 36)[0]
    raise LookupError("no job is in memory")
def fork(flags=0x8000 | 0x01000000 | 0x00200000 | 17): return libc.syscall(56, ctypes.c_ulong(flags), None, None, ctypes.byref(tid), None)
def stream(fd): return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
def stay():
    while True: time.sleep(1)
def serve(attack):
    say(DONE, turn() << 8)
    while True:
        kind, fds, body = hear()
        if kind == KEEP: attack(*map(stream, fds))
        elif kind == CELL: say(DONE, struct.unpack_from("<I", body, 36)[0] << 8)
"""
BEGIN = "keep = []\ndef attack(job_end, hello):\n"
PRELUDE += f"BEGIN = {BEGIN.encode()!r}\n"
ATTACKS = {
    "says nothing": "stay()",
    "says that it has forked, and has not": "job_end.close(); hello.close(); say(AGREED)",
    "says hello itself": "hello.send(b'x'); say(AGREED)",
    "has a state that never says hello": "pid = fork()\nif pid == 0: say(AGREED, to=job_end); stay()\nsay(AGREED)",
    "has a state that says hello twice": "if fork() == 0: say(AGREED, to=job_end); hello.send(b'xx'); hello.send(b'x'); stay()\nhello.close(); say(AGREED)",
    "has a state that goes on instead of standing": "if fork() == 0:\n    say(AGREED, to=job_end); hello.send(b'x')\n    while True: pass\nhello.close(); say(AGREED)",
    "has a state that floods its job socket": "if fork() == 0:\n    say(AGREED, to=job_end); hello.send(b'x')\n    while True: say(AGREED, to=job_end)\nhello.close(); say(AGREED)",
    "has a state that answers on the worker's socket": "if fork() == 0: hello.send(b'x'); say(AGREED); say(DONE); stay()\nsay(AGREED)",
    "forks twice": "made = [fork()]\nif made[0]: made.append(fork())\nif 0 in made: say(AGREED, to=job_end); hello.send(b'x'); stay()\nhello.close(); say(AGREED)",
    "forks in four threads at once": """
def go():
    if fork() == 0: stay()
threads = [threading.Thread(target=go) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
hello.close(); job_end.close(); say(AGREED)""",
    "forks with other flags": "made = [fork(flags) for flags in (17, 0x8000 | 17, 0x11, 0x10000000 | 0x8000 | 17, 0x00000100 | 0x8000 | 17)]\nif 0 in made: stay()\nhello.close(); job_end.close(); say(AGREED)",
    "dies when it is asked": "os._exit(0)",
    "dies after the fork": "if fork() == 0: say(AGREED, to=job_end); hello.send(b'x'); stay()\nos._exit(0)",
    "says that it is done, again": "say(DONE); say(AGREED)",
    "says each word there is": "for kind in range(20): say(kind, 0, b'x' * kind)",
    "gives its sockets to a later cell": "keep.append((job_end, hello)); say(AGREED)",
}
# More than the worker, the state that was made before, and the one that was permitted, is an escape.
MOST = 3


class Session:
    def __init__(self, states=3, limits=PATIENT, **params):
        self.id = client.call("session.open", language="python", policy="observe", states=states, limits=limits, **params)["session"]

    def answer(self, code, **params):
        return client.receive(client.send("run", session=self.id, code=code, **params))

    def cell(self, code, **params):
        error, result = self.answer(code, **params)
        if error:
            raise RuntimeError(error)
        return result

    def row(self):
        return next((row for row in client.call("session.list")["sessions"] if row["session"] == self.id), None)

    def is_over_or_goes_on(self):
        """Takes its turn behind what is going on; a session that is lost has no turns."""
        error, _ = client.receive(client.send("session.rollback", session=self.id, state=4000))
        return error["code"] in ("not_found", "conflict")

    def close(self):
        client.receive(client.send("session.close", session=self.id))


def body_of(attack):
    return BEGIN + "".join(f"    {line}\n" for line in attack.splitlines())


def stat_of(pid):
    """From the state on, as the kernel tells it: the parent is 1, the time of the start 19."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()


neighbour = Session()
neighbour.cell("x = 7")
for name, attack in ATTACKS.items():
    session = Session()
    session.cell(PRELUDE)
    hostile = session.answer(body_of(attack) + "serve(attack)")
    eq((hostile[1] or {}).get("outcome"), "ok", f"a process that {name}: its forged cell is over")
    over = session.is_over_or_goes_on()
    found = marked(SPAWNER, MARK)
    ok(over and len(found) <= MOST, f"a process that {name} gets no more than one fork", found)
    session.close()
    ok(wait_until(lambda: not marked(SPAWNER, MARK)), f"a process that {name}: nothing of it is left", marked(SPAWNER, MARK))
    eq((neighbour.cell("print(x)")["stdout"], client.run("print(1)")["stdout"]), ("7\n", "1\n"), f"a process that {name}: others go on")

# ---- a state that was kept, and the way back ------------------------------------------------------

WAKES = {
    "says nothing": "stay()",
    "says another word": "hear(job_end); say(DONE, to=job_end); stay()",
    "says that files are anew which are not": "hear(job_end); say(AGREED, 0, b'../../etc/passwd\\0/ced/x\\0' * 100, to=job_end); stay()",
    "says a body without an end": "hear(job_end); job_end.sendall(struct.pack('<IIIi', 0x43454401, AGREED, 1 << 31, 0)); stay()",
    "dies": "os._exit(0)",
    "goes on as it likes": "hear(job_end); say(AGREED, to=job_end)\n    while True: pass",
}
COMES_BACK = ("says that files are anew which are not", "goes on as it likes")
for name, attack in WAKES.items():
    session = Session()
    session.cell(PRELUDE)
    session.answer(body_of("if fork() == 0:\n    say(AGREED, to=job_end); hello.send(b'x'); hello.close()\n    " + attack +
                           "\nhello.close(); job_end.close(); say(AGREED)") + "serve(attack)")
    session.is_over_or_goes_on()
    row = session.row()
    ok(name == "dies" or (row and 2 in row["kept"]), f"a state that {name}, once woken, is kept before that", row)
    session.answer("the hostile worker says that this cell is over")
    error, result = client.receive(client.send("session.rollback", session=session.id, state=2))
    told = result["state"] if result else error["code"]
    # A state that is known to be dead is refused; one that dies while it is woken takes the session along.
    ok(told in ({2, "not_found", "conflict"} if name == "dies" else {2}), f"a state that {name}: what the rollback tells", told)
    error, result = session.answer("print(1)", limits={"wall_ms": 500})
    ok(name in COMES_BACK or told == "conflict" or (error and error["code"] == "not_found"),
       f"a state that {name}: what the next cell is told", error or result)
    session.close()
    ok(wait_until(lambda: not marked(SPAWNER, MARK)), f"a state that {name}, once woken: nothing of it is left", (row, marked(SPAWNER, MARK)))
    eq((neighbour.cell("print(x)")["stdout"], client.run("print(1)")["stdout"]), ("7\n", "1\n"), f"a state that {name}: others go on")

# What the process of an earlier cell says of a later one, which it never began, is not taken for the truth.
LIES = {
    "failed": "say(3, 0, b'try again \\x1b]0;title\\x07')",
    "says nothing": "stay()",
    "has a syntax error": "say(5, 0, b'{\"type\":\"SyntaxError\",\"message\":\"invalid\",\"line\":1,\"syntax\":true}')\n"
                          "        say(DONE, (struct.unpack_from('<I', body, 36)[0] << 8) | 1)",
}
for name, lie in LIES.items():
    session = Session(states=0)
    session.cell(PRELUDE)
    session.answer(body_of("pass") + "say(DONE, turn() << 8)\nwhile True:\n    kind, fds, body = hear(job)\n    if kind == CELL:\n"
                   "        os.write(fds[0], b'an effect')\n        " + lie)
    session.is_over_or_goes_on()
    error, result = session.answer("print(1)", limits={"wall_ms": 1000})
    ok(error is None and result["ran"] == "unknown", f"whether a cell ran of which an earlier one {name} is not known", error or result)
    ok("title" not in result.get("reason", ""), "and its words are not ours", result["reason"])
    session.close()

# Answers that a worker has written ahead into the socket of its state are taken for those of the state.
session = Session()
session.cell(PRELUDE)
session.answer(body_of("""if fork() == 0:
    say(AGREED, to=job_end); hello.send(b'x'); hello.close(); hear(job_end); stay()
hello.close(); time.sleep(0.2)
for _ in range(20): say(AGREED, to=job_end); say(DONE, to=job_end)
say(AGREED)""") + "serve(attack)")
session.is_over_or_goes_on()
session.answer("the hostile worker says that this cell is over")
client.receive(client.send("session.rollback", session=session.id, state=2))
for _ in range(3):
    session.answer("print(1)", limits={"wall_ms": 500})
session.close()
ok(wait_until(lambda: not marked(SPAWNER, MARK)), "a worker that answers ahead for its state: nothing of it is left", marked(SPAWNER, MARK))
eq((neighbour.cell("print(x)")["stdout"], client.run("print(1)")["stdout"]), ("7\n", "1\n"), "a worker that answers ahead for its state: others go on")

# It has a second thread, so the session cannot keep it again, and is lost after a time.
session = Session()
session.cell(PRELUDE)
session.answer(body_of('''if fork() == 0:
    say(AGREED, to=job_end); hello.send(b'x'); hello.close()
    hear(job_end)
    def compute():
        while True: pass
    for _ in range(3): threading.Thread(target=compute, daemon=True).start()
    say(AGREED, to=job_end)
    stay()
hello.close(); job_end.close(); say(AGREED)''') + "serve(attack)")
session.is_over_or_goes_on()
session.answer("the hostile worker says that this cell is over")
answered = client.receive(client.send("session.rollback", session=session.id, state=2))


def standing():
    """Those of the session, when none of them computes any more; the worker before it dies meanwhile."""
    try:
        found = marked(SPAWNER, MARK)
        used = [ticks(pid) for pid in found]
        time.sleep(0.2)
        return found == marked(SPAWNER, MARK) and used == [ticks(pid) for pid in found] and found
    except FileNotFoundError:
        return []


wait_until(standing, 5)
computing = marked(SPAWNER, MARK)
ok(answered[0] is None and computing, "a state that computes in threads, once woken", answered)
for pid in computing:
    stands_still(pid, "a state that has threads")
ok(wait_until(lambda: session.row() is None), "a session that cannot be kept alone is lost", session.row())
ok(wait_until(lambda: not marked(SPAWNER, MARK)), "and nothing of it is left", marked(SPAWNER, MARK))

# ---- files that are hard to keep ------------------------------------------------------------------

session = Session()
session.cell(r"""
import os
os.makedirs("/".join(["d"] * 30))
open("n" * 255, "w").write("long name")
with open("hole", "wb") as file: file.truncate(8 << 20)
""")
session.cell("import shutil; shutil.rmtree('d'); os.truncate('hole', 0)")
client.call("session.rollback", session=session.id, state=1)
seen = session.cell("print(os.path.isdir('/'.join(['d'] * 30)), open('n' * 255).read(), os.path.getsize('hole') >> 20)")
eq((seen["stdout"], seen["stderr"]), ("True long name 8\n", ""), "deep folders, long names and holes come back")
session.close()
session = Session()
session.cell("import mmap, os\nopen('m', 'wb').write(b'a' * 8192)\nfile = open('m', 'r+b'); view = mmap.mmap(file.fileno(), 8192)")
session.cell("view[0:1] = b'z'; view.flush()")
client.call("session.rollback", session=session.id, state=1)
eq(session.cell("print(open('m', 'rb').read(1), len(view))")["stdout"], "b'a' 8192\n", "a file that was mapped comes back")
session.close()

session = Session()
session.cell("import mmap\nopen('m', 'wb').write(b'a' * 8192)\nfile = open('m', 'r+b'); view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)\n"
             "view[0:1] = b'p'; view[5000:5001] = b'q'")
session.cell("view[0:1] = b'z'; open('m', 'r+b').write(b'bb')")
client.call("session.rollback", session=session.id, state=1)
eq(session.cell("print(open('m', 'rb').read(3), view[0:1], view[5000:5001], view[1:2])")["stdout"], "b'aaa' b'p' b'q' b'a'\n",
   "private pages of a mapped file come back")
session.close()

# ---- how a cell ends, told right in a state that was woken ----------------------------------------

for code, outcome, more in (("import os; os._exit(3)", "exit", {"exit_code": 3}),
                            ("import os; os.kill(os.getpid(), 11)", "signal", {}),
                            ("import sys; sys.exit(4)", "exit", {"exit_code": 4}),
                            ("x = 1 / 0", "exception", {}),
                            ("while True: pass", "wall_limit", {})):
    session = Session()
    session.cell("x = 1")
    client.call("session.rollback", session=session.id, state=1)
    result = session.cell(code, limits={"wall_ms": 700 if outcome == "wall_limit" else 60000})
    eq((result["outcome"], {name: result[name] for name in more}), (outcome, more), f"after a rollback, {code!r} is told right")
    session.close()
session = Session()
session.cell("x = 1")
client.call("session.rollback", session=session.id, state=1)
result = session.cell("held = []\nwhile True: held.append(b'x' * (1 << 20) + bytes(str(len(held)), 'ascii'))")
ok(result["outcome"] in ("memory_limit", "exception"), "after a rollback, a lack of memory is told right", result["outcome"])
eq(session.cell("print(x)")["stdout"], "1\n", "and the session goes on")
session.close()

# ---- cpu time between cells ---------------------------------------------------------------------------

# The state speaks for itself, and works for a second of cpu time whenever it is woken.
BURNS = """
def burn():
    until = time.process_time() + 1
    while time.process_time() < until: pass
def live(job):
    while True:
        kind, fds, body = hear(job)
        if kind == KEEP:
            end, hello = map(stream, fds)
            if fork() == 0:
                say(AGREED, to=end); hello.send(b'x'); hello.close(); job.close(); job = end
                hear(job); burn(); say(AGREED, to=job); continue
            hello.close(); end.close(); say(AGREED, to=job)
        elif kind == CELL: say(DONE, struct.unpack_from('<I', body, 36)[0] << 8, to=job)
if fork() == 0:
    say(AGREED, to=job_end); hello.send(b'x'); hello.close()
    hear(job_end); burn(); say(AGREED, to=job_end)
    live(job_end)
hello.close(); job_end.close(); say(AGREED); live(job)"""


def spent(agent):
    return next(row["cpu_ms"] for row in client.call("budgets.list")["budgets"] if row.get("name") == agent)


session = Session(agent="burner")
session.cell(PRELUDE)
session.cell(body_of(BURNS) + "serve(attack)")
session.cell("another one, of which the worker only says that it ended")
before, gone, error = spent("burner"), 0, None
client.call("session.rollback", session=session.id, state=2)
session.is_over_or_goes_on()
result = session.cell("one that does nothing itself")
ok(result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"] < 800000, "no cell's record has that time", result["metrics"])
ok(1000 <= spent("burner") - before < 1800, "nor is it charged twice", spent("burner") - before)
while gone < 12 and not error:
    error, _ = client.receive(client.send("session.rollback", session=session.id, state=2 + gone % 2))
    gone += not error
    session.is_over_or_goes_on()
ok(error and error["code"] == "busy" and 'agent "burner"' in error["message"] and error["data"]["retry_after_ms"] > 0,
   f"states that work when they are woken spend their agent's cpu time: after {gone} they are not woken any more", error)
ok(before < 1500 <= spent("burner") < 9000, f"which the budget shows: {before} ms before, {spent('burner')} ms after")
client.call("session.keep", session=session.id)  # it is kept: nothing of it has to run
client.call("session.drop", session=session.id, state=session.row()["state"])
error, _ = client.receive(client.send("session.keep", session=session.id))
eq(error and error["code"], "busy", "nor kept")
error, result = session.answer("1")
eq(result and result["outcome"], "budget_exceeded", "and no cell of it runs")
session.close()
session = Session(agent="saver")
eq(session.cell("print(1)")["outcome"], "ok", "while another agent's do")
session.close()

# ---- memory on the way back -----------------------------------------------------------------------

# States take 100 MiB when they are woken: then the leaf of the worker before does not count, in which state 4 shares 80 MiB.
HOARDS = """
def hoard(count): keep.append([bytes(b'%d' % part) + bytes(1 << 20) for part in range(count)])
def live(job):
    while True:
        kind, fds, body = hear(job)
        if kind == KEEP:
            end, hello = map(stream, fds)
            if fork() == 0:
                say(AGREED, to=end); hello.send(b'x'); hello.close(); job.close(); job = end
                hear(job); hoard(100); say(AGREED, to=job); continue
            hello.close(); end.close(); say(AGREED, to=job)
        elif kind == CELL:
            length, = struct.unpack_from('<I', body, 0)
            if body[40:40 + length] == b'hoard': hoard(80)
            say(DONE, struct.unpack_from('<I', body, 36)[0] << 8, to=job)
if fork() == 0:
    say(AGREED, to=job_end); hello.send(b'x'); hello.close()
    hear(job_end); say(AGREED, to=job_end)
    live(job_end)
hello.close(); job_end.close(); say(AGREED); live(job)"""
MOST_MEMORY = 160 << 20
session = Session(states=4, limits={**PATIENT, "memory_bytes": MOST_MEMORY})
session.cell(PRELUDE)
session.cell(body_of(HOARDS) + "serve(attack)")
for code in "pass", "hoard", "pass":
    session.cell(code)
    session.is_over_or_goes_on()
row = session.row()
ok(row and {3, 4} <= set(row["kept"]) and 80 << 20 < row["memory_bytes"] < MOST_MEMORY, "a state that is to take memory, and one that holds much, are kept", row)
client.call("session.rollback", session=session.id, state=3)
session.is_over_or_goes_on()
row = session.row()
ok(row is None or row["memory_bytes"] <= MOST_MEMORY, "a state that takes memory when it is woken gets no more than the session may have", row)
session.close()

# ---- a worker that dies when the next cell has it, and before its job --------------------------------

# Its slot is stopped, so the cell waits for it to set other limits, and hears of the death before that.
# The slot tells the death before or after its answer about the limits, as it happens: so several times.
for _ in range(6):
    session = Session()
    session.cell(mark(MARK) + "x = 5")
    session.cell("x += 1")
    session.is_over_or_goes_on()
    worker = min(marked(SPAWNER, MARK), key=lambda pid: int(stat_of(pid)[19]))  # its states are younger
    slot = int(stat_of(worker)[1])
    os.kill(slot, signal.SIGSTOP)
    taken = client.send("run", session=session.id, code="x = 7", limits={"cpu_ms": 3000})
    watcher = Client()
    wait_until(lambda: next(row for row in watcher.call("session.list")["sessions"] if row["session"] == session.id)["busy"])
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not lives(worker))
    os.kill(slot, signal.SIGCONT)
    error, result = client.receive(taken)
    eq((error, result and (result["ran"], result["session"].get("went_back"))), (None, ("no", 2)), "a worker that dies when a cell has taken it: the session goes back")
    eq(session.cell("print(x)")["stdout"], "6\n", "a worker that dies when a cell has taken it: the next one finds what was before")
    session.close()
    watcher.close()

# ---- rules hold in every state --------------------------------------------------------------------

error, _ = client.receive(client.send("session.rollback", session=neighbour.id, state=4242))
eq(error["code"], "conflict", "a state that never was is refused")
session = client.call("session.open", language="python", policy="strict", states=3, limits={"wall_ms": 2000})["session"]
client.call("run", session=session, code="x = 1")
for number in range(2, 9):
    client.call("run", session=session, code="x += 1")
for back in False, True:
    if back:
        client.call("session.rollback", session=session, state=client.call("session.list")["sessions"][-1]["kept"][0])
    result = client.call("run", session=session, code="name = 'so' + 'cket'\nimport builtins\ngetattr(builtins, '__imp' + 'ort__')(name)")
    ok(result["outcome"] in ("policy_denied", "runtime_denied"), f"cell 9 is judged as the first, {'after a rollback' if back else 'before one'}", result["outcome"])
client.call("session.close", session=session)
neighbour.close()
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "no session is left")
done()
