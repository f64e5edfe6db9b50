"""Each kept state stands in cgroups of its own: what that must not give away."""

import glob
import os
import sys

from wire import Client, done, eq, ok, wait_until

SPAWNER = int(sys.argv[1])
MB = 1 << 20
LIMITS = {"memory_bytes": 160 * MB, "wall_ms": 60000, "cpu_ms": 60000}
client = Client()


class Session:
    def __init__(self, states, **params):
        self.id = client.call("session.open", language="python", states=states, limits=LIMITS, **params)["session"]

    def cell(self, code, **params):
        return client.call("run", session=self.id, code=code, **params)

    def said(self, code):
        return self.cell(code)["stdout"].strip()

    def back(self, state):
        return client.call("session.rollback", session=self.id, state=state)

    def row(self):
        return next(row for row in client.call("session.list")["sessions"] if row["session"] == self.id)

    def close(self):
        client.call("session.close", session=self.id)


def leaves():
    """{folder of a leaf in the hierarchy that can freeze: its pids}, of those that have any."""
    found = {}
    for path in glob.glob(f"/sys/fs/cgroup/**/ced-{SPAWNER}/z*-s*/cgroup.freeze", recursive=True):
        folder = os.path.dirname(path)
        with open(f"{folder}/cgroup.procs", encoding="ascii") as procs:
            pids = procs.read().split()
        if pids:
            found[folder] = pids
    return found


def frozen(folder):
    with open(f"{folder}/cgroup.events", encoding="ascii") as events:
        return "frozen 1" in events.read()


def held(session):
    return session.row()["memory_bytes"]


def grow(name, megabytes):
    return f"{name} = bytearray({megabytes * MB}); {name}[::4096] = b'1' * len({name}[::4096]); print(len({name}))"


def settle(session):
    """Takes a turn behind what the session does by itself."""
    client.receive(client.send("session.rollback", session=session.id, state=4000))


idle = set(leaves())

# ---- one leaf for each ---------------------------------------------------------------------------
session = Session(4)
for number in range(1, 5):
    session.cell(f"x = {number}")
settle(session)
used = {folder: pids for folder, pids in leaves().items() if folder not in idle}
eq(sorted(map(len, used.values()))[-4:], [1, 1, 1, 1], "each kept state is alone in its leaf")
ok(all(frozen(folder) for folder in used), "and every one of them stands still", used)

# ---- memory is that of the whole session --------------------------------------------------------
session.close()
session = Session(4)
eq(session.said(grow("a", 60)), str(60 * MB), "60 MB of 160 fit")
eq(session.said("print(len(a))"), str(60 * MB), "a second state holds them, too")
session.back(1)
result = session.cell(grow("b", 120))
eq(result["outcome"], "memory_limit", "120 more do not, although the leaf is another after going back")
eq(result["session"]["state"], 1, "the session is where it was")
settle(session)
eq(sorted(session.row()["kept"]), [1, 2], "and no kept state died of it")
eq(session.said(grow("b", 40)), str(40 * MB), "40 more fit")
result = session.cell("pass")
ok(result["metrics"]["memory_peak_bytes"] > 100 * MB, "a cell's peak counts what lies in other leaves", result["metrics"])
most = 0
for turn in range(12):
    session.back(1)
    session.cell(grow("c", 40))
    most = max(most, held(session))
ok(60 * MB < most <= 160 * MB, "going back again and again gives no more memory", most // MB)
session.close()

session = Session(8)
for number in range(1, 9):
    session.cell(f"x = {number}; y{number} = bytearray(b'1' * {4 * MB})")
session.back(3)
result = session.cell("z = []\nwhile True: z.append(bytearray(b'1' * 1000000))")
eq(result["outcome"], "memory_limit", "memory runs out with eight states")
settle(session)
eq(sorted(session.row()["kept"]), list(range(1, 9)), "and all eight are still there")
values = []
for number in (4, 8):  # each cell makes a state more, for which the oldest is given up
    session.back(number)
    values.append(session.said("print(x)"))
eq(values, ["4", "8"], "what they hold is right")
session.close()

# The worker before holds much, and dies: going back must not count what it held.
session = Session(4)
session.cell(f"open('/work/file', 'wb').write(b'1' * {15 * MB})")
result = session.cell("import os, threading\ne = threading.Event()\n"
                      f"threading.Thread(target=e.wait, daemon=True).start()\n{grow('a', 110)}\nos.remove('/work/file')")
eq(result["outcome"], "ok", "a cell that is not kept fills most of the memory")
session.back(1)
eq(session.said("import os; print(os.path.getsize('/work/file'))"), str(15 * MB), "going back from it finds room for the files")
session.close()

# ---- counters -----------------------------------------------------------------------------------
session = Session(3)
result = session.cell("for i in range(20_000_000): pass")
burnt = result["metrics"]["cpu_user_us"]
session.cell("pass")
session.back(1)
quiet = session.cell("pass")["metrics"]["cpu_user_us"]
ok(quiet < burnt / 4, "a cell after going back has no other cell's processor time", (burnt, quiet))
result = session.cell("import threading\ne = threading.Event()\nthreading.Thread(target=e.wait, daemon=True).start()")
eq(result["session"].get("state"), 4, "a cell that leaves a thread goes on")
session.cell("pass")
eq(session.row().get("not_kept"), "threads", "and is not kept")
session.back(1)
session.cell("pass")
settle(session)
eq(session.row().get("not_kept"), None, "threads of a worker before are not counted in the new one's leaf")

# ---- kills reach one leaf, and the end of the session all ---------------------------------------
result = session.cell("while True: pass", limits={"wall_ms": 300})
eq((result["outcome"], result["session"]["state"] is not None), ("wall_limit", True), "a cell is killed, the session is not")
kept = session.row()["kept"]
session.back(kept[0])
session.close()


def nothing_is_left():
    return all(folder in idle for folder in leaves()) or len(leaves()) <= len(idle)


ok(wait_until(nothing_is_left), "when sessions end, nothing lives in their leaves", leaves())

# ---- what a session leaves in its leaves -----------------------------------------------------------


def rests():
    """Bytes that the kernel still counts in leaves in which nothing lives."""
    found = {}
    for folder in glob.glob(f"/sys/fs/cgroup/**/ced-{SPAWNER}/z*-s*", recursive=True):
        for name in "memory.usage_in_bytes", "memory.current":  # cgroup v1, v2
            if os.path.exists(f"{folder}/{name}"):
                with open(f"{folder}/cgroup.procs", encoding="ascii") as procs, open(f"{folder}/{name}", encoding="ascii") as usage:
                    if not procs.read():
                        found[os.path.basename(folder)] = int(usage.read())
    return found


session = Session(2)
session.cell("x = 1")
session.cell("x = 2")
session.back(1)
# The kernel remembers names that it has looked up in vain, on the account of who asked.
session.cell("import os\nnew = os.urandom(8).hex()\nfor at in range(60_000): os.path.exists(f'/usr/lib/{new}{at:0200d}')")
settle(session)
ok(held(session) > 30 * MB, "the kernel's memory of names counts for a session", held(session))
session.close()
ok(wait_until(lambda: (rest := rests()) and max(rest.values()) < 2 * MB), "what a session leaves in the leaf of a state is taken back", rests())

# ---- the slot's next worker ---------------------------------------------------------------------
for turn in range(3):
    eq(client.run(f"print({turn} + 1)")["stdout"].strip(), str(turn + 1), "runs in the same slots work")
session = Session(2)
session.cell("x = 1")
session.cell("x = 2")
session.back(1)
eq(session.said("print(x)"), "1", "and sessions")
session.close()
ok(wait_until(nothing_is_left), "and leave nothing again", leaves())
done()
