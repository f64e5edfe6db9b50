"""Kept states when memory, files or places are scarce, when their zygote is replaced, and as the host sees them."""

import os
import sys

from wire import Client, children, command, done, eq, lives, mark, marked, ok, wait_until

SPAWNER = int(sys.argv[1])
MARK = 42
MB = 1 << 20
PATIENT = {"wall_ms": 60000, "cpu_ms": 60000}
client = Client()


class Session:
    def __init__(self, states, **limits):
        self.id = client.call("session.open", language="python", policy="observe", states=states, limits=PATIENT | limits)["session"]

    def answer(self, code, **params):
        return client.receive(client.send("run", session=self.id, code=code, **params))

    def cell(self, code, **params):
        error, result = self.answer(code, **params)
        if error:
            raise RuntimeError(error)
        return result

    def said(self, code):
        return self.cell(code)["stdout"].strip()

    def back(self, state):
        return client.call("session.rollback", session=self.id, state=state)

    def row(self):
        """What the list says once nothing is being kept; {}: the session is over."""
        client.receive(client.send("session.rollback", session=self.id, state=4000))
        return next((row for row in client.call("session.list")["sessions"] if row["session"] == self.id), {})

    def close(self):
        client.receive(client.send("session.close", session=self.id))


def full(name, megabytes):
    """A line of Python that takes so much memory and writes into each page of it."""
    return f"{name} = bytearray({megabytes * MB}); {name}[::4096] = b'1' * len({name}[::4096])\n"


# ---- descriptors of a state, as the host sees them -------------------------------------------------


def sockets(pid):
    links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    return {link for link in links if link.startswith("socket:")}, {link for link in links if not link.startswith("socket:")}


session = Session(3)
session.cell(mark(MARK) + "file = open('/work/f', 'w')")
session.row()
processes = marked(SPAWNER, MARK)
eq(len(processes), 2, "a session with one kept state is two processes")
held = [sockets(pid) for pid in processes]
eq(min(len(own) for own, _ in held), 1, "of which the state has one socket")
ok(not held[0][0] & held[1][0], "that is its own: no two processes read one stream", held)
files = [{link for link in others if link.startswith("/")} for _, others in held]
eq(files[0], files[1], "what else they have open is what the program has opened")
session.close()

# ---- memory ------------------------------------------------------------------------------------

session = Session(3, memory_bytes=192 * MB, disk_bytes=128 * MB, file_bytes=128 * MB)
session.cell("x = 1")
session.row()
result = session.cell("x = 2\n" + full("hog", 90) + "with open('/work/f', 'wb') as f:\n    for _ in range(50): f.write(b'1' * (1 << 20))")
eq(result["outcome"], "ok", "a cell fills most of the memory, with files that are small enough for a state")
row = session.row()
eq((row.get("state"), row.get("not_kept")), (2, "memory"), "there is no room for a copy of them: the state is not kept, and that is told")
eq(session.said("print(x, len(hog) >> 20)"), "2 90", "and the session goes on")
session.cell("import os; del hog; os.remove('/work/f'); x = 3")
row = session.row()
eq((row["kept"][-1:], row.get("not_kept")), ([row["state"]], None), "when there is room again, states are kept again")
session.close()

session = Session(2, memory_bytes=192 * MB, disk_bytes=128 * MB, file_bytes=128 * MB)
session.cell(full("a", 40) + "with open('/work/f', 'wb') as f:\n    for _ in range(30): f.write(b'1' * (1 << 20))\nx = 1")
eq(session.row().get("kept"), [1], "a state with 40 MB of memory and 30 MB of files is kept")
session.cell("x = 2")
error, back = client.receive(client.send("session.rollback", session=session.id, state=1))
ok(error is None, "a session near its limit goes back", error)
row = session.row()
ok(row and (1 in row["kept"] or row.get("not_kept") == "memory"), "and is not lost when its state is to be kept again, and there is no room", row)
eq(session.said("print(x)"), "1", "it goes on from there")
session.close()

session = Session(2, memory_bytes=192 * MB)
session.cell("data = bytearray(b'1') * (100 << 20)")
eq(session.row().get("kept"), [1], "a state holds most of the memory")
result = session.cell("for at in range(0, len(data), 4096): data[at] = 2")
ok(result["outcome"] == "memory_limit" and result["session"].get("went_back") == 1,
   "a cell that writes over all of that meets the limit, and is undone", (result["outcome"], result["session"]))
eq((session.said("print(data[0], len(data) >> 20)"), session.row().get("state") is not None), ("49 100", True), "the session goes on")
for state in session.row()["kept"]:
    client.call("session.drop", session=session.id, state=state)
eq(session.cell("for at in range(0, len(data), 4096): data[at] = 2")["outcome"], "ok", "without the state there is room for it")
session.close()

# ---- files -------------------------------------------------------------------------------------

session = Session(3, inodes=5000)
session.cell("for n in range(4096): open(f'/work/f{n}', 'w').write(str(n))")
eq(session.row().get("kept"), [1], "a state with 4096 files is kept")
session.cell("import os\nfor n in range(0, 4096, 2): os.remove(f'/work/f{n}')\nfor n in range(1, 4096, 2): open(f'/work/f{n}', 'w').write('x')")
session.back(1)
eq(session.said("import os\nprint(len(os.listdir('/work')), all(open(f'/work/f{n}').read() == str(n) for n in range(4096)))"), "4096 True",
   "and all of them come back")
session.close()

session = Session(3)
result = session.cell("""
import errno, os
with open('/work/hole', 'wb') as file:
    for size in (1 << 36, 1 << 46, 8 << 20):
        try: print(size >> 20, file.truncate(size) is not None)
        except OSError as error: print(size >> 20, errno.errorcode[error.errno])
    file.seek(1 << 22); file.write(b'end')
""")
row = session.row()
ok(row and (row["kept"] == [1] or row.get("not_kept") == "files"), "a file with a hole of 64 GiB, or 64 TiB, hurts nobody: " + result["stdout"].replace("\n", ", "), row)
eq(session.said("print(1)"), "1", "and the session goes on")
session.close()

# The way back never depends on what a later cell has left.
session = Session(3, inodes=3000, disk_bytes=32 * MB, file_bytes=128 * MB)
session.cell("open('/work/a', 'wb').write(b'a' * (4 << 20))\nopen('/work/z', 'wb').write(b'z' * (4 << 20))\n"
             "with open('/work/hole', 'wb') as file: file.truncate(28 << 20)")
eq(session.row().get("kept"), [1], "a state has files, and a hole for which the disk has no room")
DEEP = "import os\nos.chdir('/work')\nwhile True: os.mkdir('d'); os.chdir('d')\n"
for what, code in {
    "made folders in folders until there was no place": DEEP,
    "did so, and nobody may read them": "import os\nos.chdir('/work')\nn = 0\ntry:\n    while True: os.mkdir('d'); os.chdir('d'); n += 1\nexcept OSError: pass\n"
    "for _ in range(n): os.chdir('..'); os.chmod('d', 0)\n",
    "filled the disk with another file": "open('/work/a', 'w').close()\nopen('/work/z', 'ab').write(b'z' * (40 << 20))",
    "closed /work": "import os\nos.chmod('/work', 0); os.chmod('/tmp', 0)",
}.items():
    result = session.cell(code)
    error, back = client.receive(client.send("session.rollback", session=session.id, state=1))
    ok(error is None, f"after a cell that {what} ({result['outcome']}) the session goes back", error)
    if error:
        session = Session(3, inodes=3000, disk_bytes=32 * MB, file_bytes=128 * MB)
        continue
    eq(session.said("import os\nprint(sorted(os.listdir('/work')), [os.path.getsize('/work/' + name) >> 20 for name in ('a', 'hole', 'z')], os.listdir('/tmp'), "
                    "open('/work/a', 'rb').read() == b'a' * (4 << 20))"), "['a', 'hole', 'z'] [4, 28, 4] [] True", "... and has the files that it had")
session.close()

# A deleted file that another state has open is still on the disk.
FILL = "import os, tempfile\nos.remove('/work/a')\nfile = tempfile.TemporaryFile()\ntry:\n    while True: file.write(b'z' * (1 << 20)); file.flush()\nexcept OSError: pass\n"
LOOK = "import os\nprint(os.listdir('/work'), set(open('/work/a', 'rb').read()), os.path.getsize('/work/a') >> 20, x)"
for what, answer in {
    "a rollback": lambda session: session.back(1) and session.said(LOOK),
    "a cell with `from`": lambda session: session.cell(LOOK, **{"from": 1})["stdout"].strip(),
}.items():
    session = Session(3, disk_bytes=32 * MB)
    session.cell("x = 1\nopen('/work/a', 'wb').write(b'a' * (10 << 20))")
    session.row()
    eq(session.cell(FILL + "x = 2")["outcome"], "ok", "a cell fills the disk with a deleted file")
    eq(session.row().get("kept"), [1, 2], "and its state is kept")
    eq(answer(session), "['a'] {97} 10 1", f"{what} goes back to the files before that")
    row = session.row()
    ok(row.get("kept") and 2 not in row["kept"], "the state that has the deleted file is given up", row)
    session.cell("x = 5")
    session.row()
    session.back(1)
    eq(session.said("print(x)"), "1", "and the session keeps states as before")
    session.close()

# What a thread writes into a mapped file while the session goes back is not in the file.
session = Session(3)
session.cell("import mmap, os, threading\nopen('/work/m', 'wb').write(b'a' * 65536)\nfile = open('/work/m', 'r+b')\nview = mmap.mmap(file.fileno(), 65536)")
eq(session.row().get("kept"), [1], "a session has a file mapped")
for turn in range(5):
    session.cell("""
def spoil():
    while True:
        view[:] = b'z' * 65536
threading.Thread(target=spoil, daemon=True).start()
while view[0:1] != b'z': pass
""")
    session.back(1)
    eq(session.said("print(set(open('/work/m', 'rb').read()), set(view[:]))"), "{97} {97}", f"it goes back, time {turn + 1}, while a thread writes there")
session.close()

# ---- the zygote is replaced ----------------------------------------------------------------------


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def zygotes():
    """Those of Python.  Slots and workers have the same name, and a zygote for a parent."""
    return {pid for pid in children(SPAWNER) if "zygote.py" in command(pid) and parent(pid) == SPAWNER}


session = Session(4)
session.cell("x = 'before'")
eq(session.row().get("kept"), [1], "a session begins in a zygote")
first = zygotes()


ok(wait_until(lambda: client.run("1")["outcome"] == "ok" and zygotes() - first), "which is replaced, since it is old or has served enough", (first, zygotes()))
session.cell("x = 'after'")
eq(session.said("print(x)"), "after", "the session goes on in the old one")
session.back(1)
eq(session.said("print(x)"), "before", "and goes back there")
eq(session.row()["kept"][-1:], [session.row()["state"]], "where states are kept")
fresh = Session(2)
eq(fresh.said("print('x' in globals())"), "False", "a new session begins in the new one")
fresh.close()
session.close()
ok(wait_until(lambda: client.run("1")["outcome"] == "ok" and not any(lives(pid) for pid in first)), "the old one ends with its last session", (first, zygotes()))
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "no session is left")
done()
