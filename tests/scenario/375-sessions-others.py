"""Others try to reach a session, and a session meets what it did not expect: nothing is mixed up, all is told."""

import contextlib
import os
import re
import signal
import sys

from wire import Client, children, command, done, eq, lives, ok, wait_until

spawner = int(sys.argv[1])
USER, ADMIN, OTHER = 4001, 4002, 4003
NOBODYS = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
LONG = {"wall_ms": 60000, "cpu_ms": 60000}


def connect(uid):
    """Connects as this user: the kernel reports the current uid to the daemon."""
    os.seteuid(uid)
    connected = Client()
    os.seteuid(0)
    return connected


client, admin, other = connect(USER), connect(ADMIN), connect(OTHER)


def answer(by, method, **params):
    return by.receive(by.send(method, **params))


def opened(language="python", **params):
    return client.call("session.open", language=language, **params)["session"]


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" else result


def row(session, by=client):
    return next((shown for shown in by.call("session.list")["sessions"] if shown["session"] == session), None)


def is_settled(session):
    shown = row(session)
    return shown and not shown["busy"] and shown["kept"] and shown["kept"][-1] == shown["state"]


def without_ids(told, session):
    return re.sub(r"'run_id': '[0-9A-Z]{26}'", "", str(told)).replace(session, "ID")


# ---- another user's session ----------------------------------------------------------------------

session = opened(states=4)
cell(session, "mine = 'kept from others'")
cell(session, "open('/work/mine', 'w').write(mine)")
ok(wait_until(lambda: is_settled(session)), "a session with kept states")
for by, who in ((other, "another user"), (admin, "an administrator")):
    for method, params in (("run", {"code": "print(mine)"}), ("run", {"code": "print(mine)", "from": 1}), ("check", {"code": "print(mine)"}),
                           ("session.rollback", {"state": 1}), ("session.keep", {}), ("session.drop", {"state": 1})):
        told = [without_ids(answer(by, method, session=name, **params)[method == "check"], name) for name in (session, NOBODYS)]
        ok(told[0] == told[1] and told[0] != "None",
           f"{who} learns by {method}{' from a state' if 'from' in params else ''} as much as about a session that is not", told)
error = answer(other, "session.close", session=session)[0]
eq(without_ids(error, session), without_ids(answer(other, "session.close", session=NOBODYS)[0], NOBODYS), "another user cannot close it, nor learn of it")
eq(other.call("session.list")["sessions"], [], "and sees it in no list")
ran = client.call("runs.list", session=session)["runs"]
ok(len(ran) == 2, "its cells are in its user's record", ran)
found = answer(other, "runs.list", session=session)
ok(found[0] is not None or not found[1]["runs"], "and in no other user's", found)
ok(answer(other, "runs.get", run_id=ran[0]["run_id"])[0] is not None, "who cannot read them")
ok(answer(other, "cancel", run_id=ran[0]["run_id"])[0] is not None, "nor cancel them")
eq((printed(session, "print(mine)"), row(session)["state"]), ("kept from others\n", 3), "the session is as it was")
second = connect(USER)
eq(second.call("run", session=session, code="print(mine)")["stdout"], "kept from others\n", "another connection of its user may use it")
client.call("session.close", session=session)

# ---- an approval of f(), and another f ------------------------------------------------------------

CALL = "import ctypes\nf()"


def waiting_runs():
    return admin.call("approvals.list")["waiting"]


session = opened(policy="house", states=4)
cell(session, "def f(): print('harmless')")
ok(wait_until(lambda: is_settled(session)), "a session under a policy that asks")
asked = client.send("run", session=session, code=CALL, limits=LONG)
ok(wait_until(waiting_runs), "a cell that calls f() waits for approval")
behind = client.send("run", session=session, code="def f(): print('another')", limits=LONG)
backward = second.send("session.rollback", session=session, state=1)
ok(wait_until(lambda: row(session, second)["waiting"] >= 1), "a cell that replaces f, and a rollback, wait behind it")
admin.call("approvals.approve", run_id=waiting_runs()[0]["run_id"], reason="f is harmless")
eq(client.receive(asked)[1]["stdout"], "harmless\n", "what runs is the f that was there when it was asked about")
eq((client.receive(behind)[1]["outcome"], second.receive(backward)[0]), ("ok", None), "then the others have their turn")
cell(session, "def f(): print('another')")
asked = client.send("run", session=session, code=CALL, limits=LONG)
ok(wait_until(waiting_runs), "the same text with another f is asked about again")
admin.call("approvals.deny", run_id=waiting_runs()[0]["run_id"], reason="which f?")
result = client.receive(asked)[1]
eq((result["outcome"], result["stdout"]), ("approval_denied", ""), "and does not run when it is denied")
sent = client.send("run", language="python", policy="house", code=CALL, limits=LONG)
ok(wait_until(waiting_runs), "nor has a plain run of this text an approval")
admin.call("approvals.deny", run_id=waiting_runs()[0]["run_id"], reason="no")
eq(client.receive(sent)[1]["outcome"], "approval_denied", "which is denied as well")
client.call("session.close", session=session)

# ---- what cell 1 was given, in cell 5 --------------------------------------------------------------

session = opened(states=2)
first = cell(session, "import sys, os\nfd = os.dup(0)\nsys.stdin.read(3)", stdin="abc of cell 1", files=[{"path": "given.txt", "data": "of cell 1"}])
eq(first["outcome"], "ok", "cell 1 reads a part of its stdin")
for number in (2, 3, 4):
    cell(session, f"x = {number}")
eq(printed(session, "print(repr(sys.stdin.read()))"), "''\n", "cell 5 finds nothing of it in its own")
eq(printed(session, "print(open('given.txt').read())"), "of cell 1\n", "a file stays: it is the session's")
stranger = opened(states=0)
eq(printed(stranger, "import os\nprint(os.path.exists('given.txt'), 'x' in globals())"), "False False\n", "and no other session's")
for opener in (session, stranger):
    client.call("session.close", session=opener)

# ---- memory runs out, with eight states ------------------------------------------------------------

session = opened(states=8, limits={"memory_bytes": 192 << 20})
for number in range(1, 9):
    result = cell(session, f"a{number} = bytearray(b'{number}' * (4 << 20))", limits=LONG)
    ok(result["outcome"] == "ok" and wait_until(lambda: is_settled(session)), f"cell {number} fits, and is kept", result)
eq(len(row(session)["kept"]), 8, "eight states are kept")
result = cell(session, "hog = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): hog[i] = 1", limits=LONG)
ok(result["outcome"] in ("memory_limit", "exception"), "a cell that takes all memory fails", result)
shown = row(session)
if shown:
    eq(printed(session, "print(a8[:2], 'hog' in globals())", limits=LONG), "bytearray(b'88') False\n", "the session is as before it")
    ok(wait_until(lambda: is_settled(session)), "which is kept")
    error, back = answer(client, "session.rollback", session=session, state=row(session)["kept"][0])
    ok(error is None, "and it goes back to its oldest state", error)
    client.call("session.close", session=session)
else:
    ok(result["session"]["state"] is None and result["session"]["why"] == "killed", "which ends the session, and says so", result)
    ok(answer(client, "run", session=session, code="1")[0]["code"] == "not_found", "nobody takes it for alive")
eq(client.run("print(1)", limits=LONG)["stdout"], "1\n", "other runs go on")

# ---- files and stdin that cannot be written ---------------------------------------------------------

for shown in client.call("session.list")["sessions"]:
    client.call("session.close", session=shown["session"])
WRITES = {
    "python": ("import os; os.mkdir('data'); n = 41", "print(open('ro').read())", "print(n + 1)", "import sys; print(len(sys.stdin.read()))", "os.remove('a')",
               "with open('a', 'wb') as file:\n    for _ in range(2048): os.write(file.fileno(), b'x' * 4096)"),
    "bash": ("mkdir data; n=41", "cat ro; echo", "echo $((n + 1))", "wc -c", "rm a", "head -c 9000000 /dev/zero >a"),
    "javascript": ("const fs = require('fs'); fs.mkdirSync('data'); const n = 41", "console.log(fs.readFileSync('ro', 'utf8'))", "console.log(n + 1)",
                   "console.log(fs.readFileSync(0).length)", "fs.unlinkSync('a')",
                   "const file = fs.openSync('a', 'w'); try { for (let i = 0; i < 2048; i++) fs.writeSync(file, Buffer.alloc(4096, 120)) } finally { fs.closeSync(file) }"),
}


def refusal(session, **params):
    """What is told of a cell that cannot begin, and whether the error names all these words."""
    words = params.pop("words")
    result = cell(session, "this is no program in any language (", **params)
    message = (result.get("error") or {}).get("message", "")
    told = (result["outcome"], result["ran"], (result.get("error") or {}).get("type"), result["session"]["state"] is not None, result["session"].get("went_back"))
    return told if all(word in message and word in result["reason"] for word in words) else result


for language, (first, show, count, measure, remove, fill) in WRITES.items():
    session = opened(language, states=0, limits={**LONG, "disk_bytes": 8 << 20})
    cell(session, first)
    for number in "1", "2":
        eq(printed(session, show, files=[{"path": "ro", "data": number, "mode": 0o444}]), number + "\n", f"{language}: a file that nobody may write is sent, and replaced")
    in_the_way = ("exception", "unknown", "FilesError", True, None)
    eq(refusal(session, files=[{"path": "data", "data": "1"}], words=["file data", "directory"]), in_the_way, f"{language}: a folder in the way of a file is told")
    eq(refusal(session, files=[{"path": "ro/x", "data": "1"}], stdin="in", words=["ro/x", "directory"]), in_the_way, "so is a file in the way of a folder")
    name = "ENOSPC: No space left on device"
    eq(printed(session, count, files=[{"path": name + "/x", "data": "1"}]), "42\n", "a folder has the name of an error")
    eq(refusal(session, files=[{"path": name, "data": "1"}], words=["directory"]), in_the_way, "which is told as no such error")
    eq(printed(session, count), "42\n", "and the session goes on, without kept states")
    ok(cell(session, fill)["outcome"] in ("disk_limit", "exception", "exit"), "the disk is full")
    no_room = ("disk_limit", *in_the_way[1:])
    eq(refusal(session, files=[{"path": "new", "data": "1" * 300000}], words=["file new", "no space" if language == "javascript" else "No space"]), no_room,
       "a file without room is told")
    eq(refusal(session, stdin="x" * 300000, words=["stdin", "no space" if language == "javascript" else "No space"]), no_room, "so is a stdin")
    eq((printed(session, count), printed(session, remove)), ("42\n", ""), "the session goes on")
    eq(str(printed(session, measure, stdin="x" * 300000)).strip(), "300000", "and with room again, a cell has its stdin")
    client.call("session.close", session=session)

session = opened("bash", states=4, limits={**LONG, "disk_bytes": 14 << 20})
cell(session, "x=1")
ok(wait_until(lambda: is_settled(session)), "a state is kept")
cell(session, "exec {t}>q; rm q; head -c 99000000 /dev/zero >&$t 2>/dev/null; true")
ok(wait_until(lambda: is_settled(session)) and row(session)["kept"] == [1, 2], "and one that has a deleted file, which fills the disk", row(session))
eq(cell(session, "false", **{"from": 1})["outcome"], "exit", "a cell from the first that fails has not filled the disk")
client.call("session.close", session=session)

session = opened(states=2)
cell(session, "import os; n = 1; os.mkdir('data')")
ok(wait_until(lambda: is_settled(session)), "a session with a kept state")
result = cell(session, "n = 2", files=[{"path": "data", "data": "1"}], atomic=True)
eq((result["outcome"], result["ran"], result["session"]["went_back"]), ("exception", "unknown", 1), "an atomic cell whose files cannot be written is undone")
eq(printed(session, "print(n)"), "1\n", "and the session is as before")
client.call("session.close", session=session)

# ---- a zygote dies under a session -----------------------------------------------------------------


def zygotes():
    """Those of Python: children of the spawner with children of their own, one of which a session is in."""
    return {pid for pid in children(spawner) if "zygote.py" in command(pid)}


session, plain = opened(states=2), opened(language="javascript", states=0)
cell(session, "x = 'before'")
cell(plain, "globalThis.x = 'before'")
killed = zygotes()
for pid in killed:
    with contextlib.suppress(ProcessLookupError):  # slots die with their zygote
        os.kill(pid, signal.SIGKILL)
ok(killed and wait_until(lambda: not any(lives(pid) for pid in killed)), "all zygotes and slots of Python are killed", killed)
ok(wait_until(lambda: row(session) is None or row(session)["busy"] is False), "the session is told as over, or still there")
error, result = answer(client, "run", session=session, code="print(x)", limits=LONG)
ok((error and error["code"] == "not_found") or result["stdout"] == "before\n" or result["session"]["state"] is None,
   "a cell runs in its own state, or is told that there is none", (error, result))
eq(client.run("print('x' in globals())", limits=LONG)["stdout"], "False\n", "a plain run has a new worker, with nothing of the session")
fresh = opened(states=2)
eq(printed(fresh, "print('x' in globals())", limits=LONG), "False\n", "so has a new session")
eq(printed(plain, "console.log(x)", limits=LONG), "before\n", "and the session of node goes on")
for shown in client.call("session.list")["sessions"]:
    client.call("session.close", session=shown["session"])
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "no session is left")
done()
