"""session.keep and session.drop: what they do, what they refuse, and who may not use them."""

import os
import re
import subprocess
import sys

from wire import Client, done, eq, mark, marked, ok, wait_until

SPAWNER = int(sys.argv[1])
OTHER = 4242
MARK = 42
LONG = {"wall_ms": 60000, "cpu_ms": 60000}
client = Client()


class Session:
    def __init__(self, language="python", **params):
        self.id = client.call("session.open", language=language, limits=LONG, **params)["session"]

    def ask(self, method, by=client, **params):
        return by.receive(by.send(method, session=self.id, **params))

    def cell(self, code, **params):
        error, result = self.ask("run", code=code, **params)
        if error:
            raise RuntimeError(error)
        return result

    def value(self, expression):
        return self.cell(f"print({expression}, end='')")["stdout"]

    def listed(self):
        """Its row, once nothing is being kept."""
        for _ in 1, 2:
            row = next(row for row in client.call("session.list")["sessions"] if row["session"] == self.id)
            if row["state"]:
                self.ask("session.rollback", state=row["state"])  # takes its turn behind what is going on
        return row

    def refused(self, method, what, code="conflict", words="", **params):
        error, result = self.ask(method, **params)
        ok(error and error["code"] == code and words in error["message"], what, error or result)

    def close(self):
        client.call("session.close", session=self.id)


# ---- pinned -------------------------------------------------------------------------------------

s = Session(states=3)
s.refused("session.keep", "a session without a cell has nothing to keep", words="no cell has happened")
s.cell(mark(MARK) + "\nx = 1; open('f', 'w').write('one')")
error, result = s.ask("session.keep", name="loaded")
eq((error, result), (None, {"state": 1, "kept": [1], "pinned": [{"state": 1, "name": "loaded"}]}), "session.keep pins the state in which the session stands")
for number in range(2, 7):
    s.cell(f"x = {number}")
row = s.listed()
eq((row["kept"], row["pinned"]), ([1, 5, 6], [{"state": 1, "name": "loaded"}]), "newer states replace others, and not this one")
eq(s.ask("session.keep")[1]["pinned"], [{"state": 1, "name": "loaded"}, {"state": 6}], "a second one needs no name")
s.cell("x = 7")
s.refused("session.keep", "one place stays free for the newest state", words="session.drop")
eq(s.listed()["kept"], [1, 6, 7], "and the newest is in it")
error, result = s.ask("session.rollback", state=1)
eq((error, sorted(result["kept"])), (None, [1, 6, 7]), "one can go back to a pinned state")
eq(s.listed()["pinned"], [{"state": 6}, {"state": 1, "name": "loaded"}], "which stays pinned, under its name")
eq(s.ask("session.keep", name="base")[1]["pinned"], [{"state": 6}, {"state": 1, "name": "base"}], "keeping it again renames it")
s.ask("session.keep", name="base")
eq(s.value("x, open('f').read()"), "1 one", "variables and files are those of the state")
result = s.cell("x = 0\nimport os; os._exit(1)")["session"]
eq((result["went_back"], result["kept"]), (8, [6, 1, 8]), "a cell that is killed finds the newest state to go back to")
eq(s.value("x"), "1", "and that is where the session is")
for _ in range(20):
    s.ask("session.rollback", state=6)
    s.ask("session.rollback", state=1)
    row = next(row for row in client.call("session.list")["sessions"] if row["session"] == s.id)
    if len(row["pinned"]) < 2:
        break
eq((row["kept"][-1], row["pinned"]), (1, [{"state": 6}, {"state": 1, "name": "base"}]), "also while the state is kept again")
eq([pin["state"] for pin in s.listed()["pinned"]], [6, 1], "going back and forth loses no pin")

# ---- given up -----------------------------------------------------------------------------------

processes = len(marked(SPAWNER, MARK))
error, result = s.ask("session.drop", state=6)
eq((error, result["state"], 6 in result["kept"]), (None, 1, False), "session.drop gives a state up")
ok(wait_until(lambda: len(marked(SPAWNER, MARK)) == processes - 1), "and its process is gone", (processes, marked(SPAWNER, MARK)))
s.refused("session.drop", "once", state=6, words="state 6 is not kept")
s.refused("session.drop", "a state that is none cannot be given up", state=4294967295, words="is not kept")
s.refused("session.drop", "nor what never was one", "bad_request", state=0)
s.refused("session.rollback", "there is no way back to it", state=6, words="state 6 is not kept")
error, _ = s.ask("run", code="1", **{"from": 6})
eq((error["code"], error["data"]["pointer"]), ("conflict", "/from"), "nor for a cell")
row = s.listed()
eq([pin["state"] for pin in row["pinned"]], [1], "it is not pinned either")
eq(s.value("x"), "1", "the session goes on")

for state in s.listed()["kept"]:
    s.ask("session.drop", state=state)
here = s.listed()["state"]
eq((s.listed()["kept"], s.listed()["pinned"]), ([], []), "all states can be given up, also the one in which the session stands")
for _ in range(10):
    error, result = s.ask("session.keep", name="again")
    eq((error, result["kept"]), (None, [here]), "session.keep keeps it anew")
    error, result = s.ask("session.drop", state=here)
    eq((error, result["kept"]), (None, []), "and session.drop gives it up again")
eq(s.cell("import os; os._exit(1)")["session"]["why"], "killed", "then a cell that is killed ends the session")
s.refused("session.keep", "which keeps nothing more", "not_found")
s.refused("session.drop", "and gives nothing up", "not_found", state=1)

# ---- while a cell runs --------------------------------------------------------------------------

s = Session(states=2)
s.cell("x = 1")
running = client.send("run", session=s.id, code="import time\ntime.sleep(0.5)\nx = 2")
kept = client.send("session.keep", session=s.id, name="two")
dropped = client.send("session.drop", session=s.id, state=1)
behind = client.send("run", session=s.id, code="x = 3")
eq(client.receive(running)[1]["session"]["state"], 2, "a cell runs")
eq(client.receive(kept)[1]["pinned"], [{"state": 2, "name": "two"}], "session.keep takes its turn behind it, and keeps its state")
eq(client.receive(dropped)[1]["kept"], [2], "session.drop takes the next turn")
eq(client.receive(behind)[1]["session"]["from"], 2, "and the next cell the one after that")
running = client.send("run", session=s.id, code="import time\ntime.sleep(60)")
kept = client.send("session.keep", session=s.id)
closed = Client()
wait_until(lambda: any(row["session"] == s.id and row["waiting"] and row["cells"] == 4 for row in closed.call("session.list")["sessions"]))
closed.call("session.close", session=s.id)
eq(client.receive(kept)[0]["code"], "not_found", "a session that is closed meanwhile keeps nothing")
eq(client.receive(running)[1]["outcome"], "canceled", "and its cell is cancelled")
gone = Client()
s = Session(states=2)
s.cell("x = 1")
running = client.send("run", session=s.id, code="import time\ntime.sleep(0.5)\nx = 2")
gone.send("session.keep", session=s.id, name="left")
wait_until(lambda: any(row["session"] == s.id and row["waiting"] for row in client.call("session.list")["sessions"]))
gone.close()
client.receive(running)
ok(s.listed()["state"] == 2, "a client that leaves while it waits hurts nobody")
s.close()

# ---- what cannot be kept ------------------------------------------------------------------------

s = Session(states=0)
s.cell("x = 1")
s.refused("session.keep", "a session without states says so", words="keeps no states")
s.refused("session.drop", "and has none to give up", state=1)
s.close()
s = Session(states=1)
s.cell("x = 1")
s.refused("session.keep", "one with a single place has it for the newest state", words="more `states`")
s.close()
s = Session(states=2)
s.cell("import threading; e = threading.Event(); t = threading.Thread(target=e.wait, daemon=True); t.start()")
s.refused("session.keep", "a state with threads is refused with the reason", words="more than one thread")
s.cell("e.set(); t.join()")


def is_kept_at_last():
    """A thread that was joined may still be ending, and goes on with the next cell only."""
    error, _ = s.ask("session.keep")
    if error:
        s.cell("import time; time.sleep(0.01)")
    return not error


ok(wait_until(is_kept_at_last), "and kept when they have ended")
for name in "", "two words", "x" * 33, "\x1b[2J", "/etc":
    s.refused("session.keep", f"a name is a plain word: {name!r}", "bad_request", name=name)
eq(s.ask("session.keep", name="x" * 32)[1]["pinned"][0]["name"], "x" * 32, "of 32 characters at most")
s.close()
s = Session("javascript")
s.cell("1")
s.refused("session.keep", "node keeps no state, and says why", words="threads")
s.refused("session.drop", "and has none to give up", state=1, words="threads")
s.close()

# ---- other users --------------------------------------------------------------------------------

s = Session(states=2)
s.cell("x = 1")
s.ask("session.keep", name="mine")
os.seteuid(OTHER)
other = Client()
os.seteuid(0)
for method, params in ("session.keep", {}), ("session.keep", {"name": "theirs"}), ("session.drop", {"state": 1}):
    error, _ = s.ask(method, by=other, **params)
    eq(error and error["code"], "not_found", f"another user's {method} finds no such session")
eq(s.listed()["pinned"], [{"state": 1, "name": "mine"}], "and changes nothing")

# ---- a cell that attacks ------------------------------------------------------------------------

s.cell("""
import os, signal
for pid in range(1, 400):
    if pid != os.getpid():
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass
""")
row = s.listed()
eq((row["kept"], row["pinned"]), ([2], []), "a cell that kills its session's states loses the pinned one, too")
s.refused("session.drop", "which cannot be given up any more", state=1)
eq((s.ask("session.keep")[1]["kept"], s.value("x")), ([2], "1"), "and the session goes on")
s.close()

# ---- cectl --------------------------------------------------------------------------------------


def cectl(*words, stdin=None):
    ended = subprocess.run(["cectl", *words], input=stdin, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


s = Session(states=3)
s.cell("x = 1")
eq(cectl("session", "keep", s.id, "loaded")[:2], (0, "pinned state 1\n"), "cectl session keep")
s.cell("x = 2")
s.cell("x = 3")
shown = cectl("session", "show", s.id)[1]
ok(re.search(r"x = 1 +kept, pinned as loaded\n", shown) and re.search(r"x = 2 +kept\n", shown), "cectl session show marks what is pinned", shown)
eq(cectl("session", "drop", s.id, "2")[:2], (0, "no longer kept: state 2\n"), "cectl session drop")
status, _, told = cectl("session", "drop", s.id, "2")
ok(status == 1 and "state 2 is not kept" in told, "once", told)
eq([cectl("session", *words)[0] for words in (("keep",), ("drop", s.id), ("drop", s.id, "two"), ("drop", s.id, "2", "3"))], [2] * 4, "which wants a session and a number")
s.close()
status, printed, told = cectl("repl", "--states", "3", stdin="x = 1\n%%\nprint(x)\n")
eq((status, printed), (0, "1\n"), "cectl repl")
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "no session is left")
done()
