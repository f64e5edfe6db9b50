"""runs.replay of a cell: into a new session, with what that settles."""

import os

from toolbox import Toolbox, tool
from wire import Client, done, eq, ok

USER, OTHER = 4001, 4002
NOBODYS = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def connect(uid, kind=Client):
    os.seteuid(uid)
    connected = kind()
    os.seteuid(0)
    return connected


client, other = connect(USER), connect(OTHER)


def opened(by=client, **params):
    return by.call("session.open", language="python", **params)["session"]


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def answer(by=client, **params):
    return by.receive(by.send("runs.replay", **params))


session = opened(states=3, env={"WHO": "me"})
ran = [cell(session, "import os\nx = 1"), cell(session, "x += 1\nprint(x, os.environ['WHO'])"), cell(session, "def f():\n    1 / 0\nf()"),
       cell(session, "print('in', input())", stdin="text", limits={"wall_ms": 4321}, task="a task", labels={"k": "v"})]
ids = [result["run_id"] for result in ran]

# ---- where -------------------------------------------------------------------------------------

error, _ = answer(run_id=ids[0])
eq((error["code"], "session replay" in error["message"]), ("conflict", True), "a cell is not replayed alone, and what to do is said")
plain = client.run("print(1)")
again = opened(states=0)
error, _ = answer(run_id=plain["run_id"], session=again)
eq((error["code"], "no cell" in error["message"]), ("conflict", True), "nor is a plain run replayed as a cell")
for name, by in ((NOBODYS, client), (again, other)):
    error, _ = answer(by, run_id=ids[0], session=name)
    eq(error["code"], "not_found", "into a session that is not there, or a record of somebody else, nothing is replayed")
theirs = opened(other)
error, _ = answer(run_id=ids[0], session=theirs)
eq((error["code"], error["data"]["reason"]), ("not_found", "ended"), "nor into another user's session")
error, _ = answer(run_id=ids[0], session="x")
eq(error["code"], "bad_request", "a session is named by its id")
other.call("session.close", session=theirs)

# ---- what comes out ------------------------------------------------------------------------------

replays = [client.call("runs.replay", run_id=run_id, session=again) for run_id in ids]
eq([replay["same"] for replay in replays], [True, False, True, True], "cells come out the same where they have what they had")
eq([change["what"] for change in replays[1]["differs"]], ["outcome", "exit_code", "stdout", "stdout_bytes", "stderr", "stderr_bytes", "error"],
   "a session that was opened with another environment makes a difference")
eq([replay["replay_of"] for replay in replays], ids, "each names the cell of which it is a replay")
eq([replay["result"]["session"]["cell"] for replay in replays], [1, 2, 3, 4], "they are cells of the new session")
record = client.call("runs.get", run_id=replays[3]["result"]["run_id"])
eq((record["request"]["session"], record["request"]["limits"]["wall_ms"], record["request"]["task"], record["replay_of"]), (again, 4321, "a task", ids[3]),
   "with input, limits and task of their own")
eq(client.call("runs.list", session=again)["runs"][0]["cell"], 4, "and are in its list")
client.call("session.close", session=again)
error, _ = answer(run_id=ids[0], session=again)
eq((error["code"], error["data"]["reason"]), ("not_found", "ended"), "a session that is over takes no more")

again = opened(env={"WHO": "me"})
ok(answer(run_id=ids[0], session=again)[1]["same"], "a new session")
third = answer(run_id=ids[2], session=again)[1]
eq((third["same"], third["result"]["session"]["cell"], "cell-3.py" in third["result"]["stderr"]), (True, 3, True), "keeps the numbers of cells, which tracebacks name")
eq(answer(run_id=ids[1], session=again)[1]["result"]["session"]["cell"], 4, "numbers only grow")
error, _ = answer(run_id=ids[0], session=again, deterministic=True)
eq((error["code"], error["data"]["pointer"]), ("bad_request", "/deterministic"), "and a session is not deterministic")
client.call("session.close", session=again)

# ---- secrets -----------------------------------------------------------------------------------

SECRET = "pl4ntedInACell"
masked = opened(secrets=[SECRET], env={"KEY": SECRET})
said = cell(masked, f"import os\nprint(os.environ['KEY'], '{SECRET}')")
bare, bringing = opened(env={"KEY": SECRET}), opened(env={"KEY": SECRET}, secrets=[SECRET])
error, _ = answer(run_id=said["run_id"], session=bare)
eq((error["code"], "secrets" in error["message"]), ("conflict", True), "a cell with secrets is not replayed without them")
eq(answer(run_id=said["run_id"], session=bare, secrets=[SECRET])[0]["code"], "conflict", "nor with those of the call")
error, _ = answer(run_id=said["run_id"], session=bringing, secrets=[SECRET])
ok(error and error["data"]["pointer"] == "/secrets", "since they are the session's to name", error)
error, replayed = answer(run_id=said["run_id"], session=bringing)
ok(error is None and replayed["masks"] == 2, "where its session names them it runs, with the program as it was recorded", error or replayed)
ok(SECRET not in str(client.call("runs.get", run_id=replayed["result"]["run_id"])), "and they are masked again")
for name in masked, bare, bringing:
    client.call("session.close", session=name)

# ---- tools -------------------------------------------------------------------------------------

box = connect(USER, Toolbox)
tools = [tool("next")]
counted = []


def following(**_):
    counted.append(1)
    return len(counted)


session = box.call("session.open", language="python")["session"]
calling = box.finish(box.send("run", session=session, code="a = tools.next()\nb = tools.next()\nprint(a, b)", tools=tools), {"next": following})
reading = cell(session, "print(a + b)")
again = opened()
replays = [client.call("runs.replay", run_id=result["run_id"], session=again) for result in (calling, reading)]
eq(([replay["same"] for replay in replays], replays[0]["result"]["calls"]["recorded"], len(counted)), ([True, True], 2, 2),
   "calls get their recorded answers in each cell, and nobody is asked")
for name in session, again:
    client.call("session.close", session=name)
client.call("session.close", session=client.call("session.list")["sessions"][0]["session"])
eq(client.call("session.list")["sessions"], [], "no session is left")
done()
