import os
import threading
import time

from wire import Client, done, eq, ok, wait_until

ASKS = "import ctypes\n"
USER, OTHER, APPROVER, SECOND = 4001, 4004, 4002, 4003


def connect(uid):
    """Connects as this user: the kernel reports the current uid to the daemon."""
    os.seteuid(uid)
    client = Client()
    os.seteuid(0)
    return client


def asked(client, code, **params):
    """Parks a run.  Returns its id."""
    answer = client.run(ASKS + code, policy="house", detach=True, **params)
    assert answer["state"] == "parked", answer
    return answer["run_id"]


def parked(client, **params):
    """The same with a client that stays.  Returns msgid and notification."""
    msgid = client.send("run", language="python", policy="house", **params)
    while not any(notice[0] == "run.parked" for notice in client.notices):
        for message in client.unpacker:
            (client.notices if message[0] == 2 else client.replies).append(message[1:])
        if any(notice[0] == "run.parked" for notice in client.notices):
            break
        client.unpacker.feed(client.sock.recv(65536))
    notice = [notice[1][0] for notice in client.notices if notice[0] == "run.parked"][-1]
    client.notices.clear()
    return msgid, notice


def code_of(client, method, **params):
    """The error's code, or None."""
    error, _ = client.receive(client.send(method, **params))
    return error and error["code"]


user, other, approver, second, root = map(connect, (USER, OTHER, APPROVER, SECOND, 0))
watcher = connect(APPROVER)
watcher.call("events.subscribe", kinds=["asked", "approved", "denied", "started"])

eq(user.call("check", language="python", code=ASKS, policy="house")["would"], "ask", "check says that it would ask")
began = time.monotonic()
msgid, notice = parked(user, code=ASKS + "print(6 * 7)")
eq((notice["state"], notice["policy"]["decision"], notice["policy"]["findings"][0]["rule"]),
   ("parked", "ask", "python.import.dangerous"), "a client is notified, with what was found")
time.sleep(0.3)
eq(user.call("runs.get", run_id=notice["run_id"])["state"], "parked", "the record says that it waits")
eq(user.call("wait", run_id=notice["run_id"], timeout_ms=10)["state"], "parked", "and so does wait")
page = approver.call("approvals.list")
eq([run["run_id"] for run in page["waiting"]], [notice["run_id"]], "it is listed")
eq(page["waiting"][0]["request"]["code"], ASKS + "print(6 * 7)", "with its code")
answer = approver.call("approvals.approve", run_id=notice["run_id"][:20], reason="fine")
eq((answer["decision"], answer["uid"]), ("approved", USER), "an approver says yes")
result = user.receive(msgid)[1]
since_us = (time.monotonic() - began) * 1e6
eq((result["outcome"], result["stdout"]), ("ok", "42\n"), "and it runs")
eq((result["approval"]["decision"], result["approval"]["by"], result["approval"]["act"]),
   ("approved", APPROVER, answer["act"]), "the result says by whose word")
ok(result["metrics"]["total_us"] < since_us - 300_000, "the wait is not counted as its time", (since_us, result["metrics"]))
ok(result["policy"]["decision"] == "ask" and result["limits"]["enforced_by"]["wall_ms"] == "clock",
   "under its policy and limits")

# Permissions.
run_id = asked(user, "1")
eq(code_of(user, "approvals.approve", run_id=run_id), "forbidden", "a user may not")
eq(code_of(other, "approvals.list"), "forbidden", "nor see what waits")
hiding = asked(user, "X_TOKEN=[print(1),__import__('os')]\nprint(2)")
eq([run["masked"] for run in approver.call("approvals.list", run_id=hiding)["waiting"]], [1], "masks in the code of a run that waits are counted")
eq(code_of(approver, "approvals.approve", run_id=hiding), "conflict", "a code line that a mask hides is not approved unawares")
act = approver.call("approvals.approve", run_id=hiding, masked=True)["act"]
eq(user.call("wait", run_id=hiding)["outcome"], "ok", "only with a word for it")
eq([found["params"].get("masked") for found in root.call("admin.acts")["acts"] if found["act"] == act], [True], "which is recorded")
part = "echo hidden >&2"
hiding = user.call("run", language="bash", code="set -x; ls", detach=True, policy="asks", env={"PS4": f"$({part}) ", "NOTE": part}, secrets=[part])
eq([run["masked"] for run in approver.call("approvals.list", run_id=hiding["run_id"])["waiting"]], [1],
   "and so are those in a variable that is code for a shell, and in no other")
approver.call("approvals.deny", run_id=hiding["run_id"], reason="no")
hiding = user.call("run", language="bash", code="ls", detach=True, policy="asks", env={"BASH_ENV": "/work/notes", "OTHER": "x"},
                   secrets=["BASH_ENV", "OTHER"], files=[{"path": "notes", "data": "echo hidden"}])
eq([run["masked"] for run in approver.call("approvals.list", run_id=hiding["run_id"])["waiting"]], [1], "a masked name of such a variable counts")
eq(code_of(approver, "approvals.approve", run_id=hiding["run_id"]), "conflict", "and is not approved unawares")
approver.call("approvals.deny", run_id=hiding["run_id"], reason="no")
own = asked(approver, "1")
eq(code_of(approver, "approvals.approve", run_id=own), "forbidden", "an approver may not approve his own")
eq(code_of(approver, "approvals.deny", run_id=own), "forbidden", "nor deny it")
roots = asked(root, "1")
eq(code_of(root, "approvals.approve", run_id=roots), "forbidden", "root neither")
second.call("approvals.deny", run_id=own)
approver.call("approvals.deny", run_id=roots)
eq(code_of(approver, "approvals.approve", run_id="01ARZ3NDEKTSV4RRFFQ69G5FAV"), "not_found", "what is not there is not found")
approver.call("cancel", run_id=run_id)
result = user.call("wait", run_id=run_id)
eq((result["outcome"], result["ran"]), ("canceled", "no"), "what waits can be cancelled")
eq(code_of(approver, "approvals.deny", run_id=run_id), "conflict", "and is decided then")
eq(code_of(approver, "approvals.approve", run_id=run_id, count=3), "bad_request", "a count is for a program")

# Races: of several decisions at once exactly one is first, and the others get an error.
wins = {"approve": 0, "deny": 0, "cancel": 0}
told = 0
for number in range(120):
    run_id = asked(user, f"print({number})")
    sends = [(approver, "approvals.approve"), (second, "approvals.approve"), (root, "approvals.deny"), (user, "cancel")]
    sends = sends[:3 + number % 2]  # a run that is cancelled during its approval has not begun
    order = sends[number // 2 % 4:] + sends[:number // 2 % 4]
    asking = [(client, method, client.send(method, run_id=run_id)) for client, method in order]
    answers = [(method, client.receive(msgid)) for client, method, msgid in asking]
    said = [method.split(".")[-1] for method, (error, _) in answers if error is None]
    decided = [word for word in said if word != "cancel"]
    result = user.call("wait", run_id=run_id)
    good = {"approve": ("ok", "canceled"), "deny": ("approval_denied",)}
    if len(decided) > 1 or (decided and result["outcome"] not in good[decided[0]]) or \
            (not decided and result["outcome"] != "canceled"):
        ok(False, f"round {number}", (answers, result["outcome"]))
        break
    refused = [error for method, (error, _) in answers if error]
    told += sum(error["code"] in ("conflict", "not_found") for error in refused)
    if len([error for error in refused if error["code"] not in ("conflict", "not_found")]):
        ok(False, f"round {number}: all are told", refused)
        break
    wins[{"ok": "approve", "approval_denied": "deny", "canceled": "cancel"}[result["outcome"]]] += 1
ok(sum(wins.values()) == 120 and min(wins.values()) > 0, f"120 races of four: {wins}, {told} were told that they came too late")

# An approval for a program: of many runs at once, exactly as many as its count may run.
first = asked(user, "print('grant')")
approver.call("approvals.approve", run_id=first, **{"for": "code"}, count=4)
eq(user.call("wait", run_id=first)["outcome"], "ok", "the run itself goes on")
asking = [user.send("run", language="python", code=ASKS + "print('grant')", policy="house", detach=True) for _ in range(15)]
answers = [user.receive(msgid)[1] for msgid in asking]
free = [answer["run_id"] for answer in answers if answer.get("state") != "parked"]
eq(len(free), 3, "of fifteen at once three run, the others are asked about")
result = user.call("wait", run_id=free[0])
eq((result["outcome"], result["approval"]["grant"], result["approval"]["by"]), ("ok", True, APPROVER), "and say by whose word")
for answer in answers:
    if answer.get("state") == "parked":
        approver.call("approvals.deny", run_id=answer["run_id"])
ttl = asked(user, "print('ttl')")
approver.call("approvals.approve", run_id=ttl, **{"for": "code"}, ttl_ms=1500)
eq(user.run(ASKS + "print('ttl')", policy="house", args=["a"], stdin="b")["outcome"], "ok", "with another input it is the same program")
asked(other, "print('ttl')")
ok(True, "of another user it is another's")
asked(user, "print('ttl') ")
ok(True, "a space more is another program")
asked(user, "print('ttl')", files=[{"path": "helper.py", "data": "1"}])
ok(True, "and so is another module beside it")
eq(user.run(ASKS + "print('ttl')", policy="house", files=[{"path": "data.csv", "data": "1"}])["outcome"], "ok", "but not other data")
shell = {"language": "bash", "code": "cat; echo $NAME", "policy": "asks", "detach": True, "env": {"BASH_ENV": "/work/rc", "NAME": "n"},
         "files": [{"path": "rc", "data": "echo seen"}], "stdin": "in"}
first = user.call("run", **shell)["run_id"]
approver.call("approvals.approve", run_id=first, **{"for": "code"}, ttl_ms=600000)
eq(user.call("wait", run_id=first)["stdout"], "seen\ninn\n", "a program with a variable that is code for a shell can be approved")
eq(user.call("wait", run_id=user.call("run", **shell)["run_id"])["stdout"], "seen\ninn\n", "and need not be asked about again")
for more in ({"files": [{"path": "rc", "data": "echo other"}]}, {"stdin": "echo other"}, {"args": ["echo other"]},
             {"env": {"BASH_ENV": "/work/rc", "NAME": "echo other"}}, {"env": {"BASH_ENV": "/dev/stdin", "NAME": "n"}}):
    eq(user.call("run", **shell | more).get("state"), "parked", f"with another {next(iter(more))} it is another program, since the shell may run that")
time.sleep(1.6)
asked(user, "print('ttl')")
ok(True, "its time passes")
for run in approver.call("approvals.list", limit=100)["waiting"]:
    approver.call("approvals.deny", run_id=run["run_id"])

# Clients that leave.
leaver = connect(USER)
_, notice = parked(leaver, code=ASKS + "print('left')")
leaver.close()
ok(wait_until(lambda: user.call("runs.get", run_id=notice["run_id"])["outcome"] == "canceled"), "who leaves cancels what waits")
leaver = connect(USER)
run_id = asked(leaver, "print('stays')")
leaver.close()
time.sleep(0.2)
approver.call("approvals.approve", run_id=run_id)
eq(user.call("wait", run_id=run_id)["stdout"], "stays\n", "a detached one waits on")

# An id names one action, also while that waits.
run_id = asked(user, "print('once')", id="a1")
waiting = user.send("run", language="python", code=ASKS + "print('once')", policy="house", id="a1")
eq(code_of(user, "run", language="python", code=ASKS, policy="house", id="a1"), "conflict", "other content under its id is refused")
approver.call("approvals.approve", run_id=run_id)
result = user.receive(waiting)[1]
eq((result["stdout"], result["cached_from"]), ("once\n", run_id), "the same content joins it")

# Ceilings.
mine = [asked(user, f"print({number})") for number in range(20)]
eq(code_of(user, "run", language="python", code=ASKS, policy="house"), "busy", "one user's may be so many")
others = [asked(other, f"print({number})") for number in range(4)]
eq(code_of(other, "run", language="python", code=ASKS, policy="house"), "busy", "and all together so many")
eq(other.run("print(1)", policy="house")["outcome"], "ok", "what is not asked about runs")
status = root.call("admin.status")
eq((status["parked"], status["in_progress"]), (24, 0), "status tells them apart")

# Admin operations.
root.call("admin.drain", reason="noon")
eq(code_of(approver, "approvals.approve", run_id=mine[0]), "draining", "nothing is let run while no run is taken")
eq(code_of(approver, "approvals.deny", run_id=mine[0]), None, "but denied")
root.call("admin.resume")
root.call("admin.block", uid=USER)
eq(code_of(approver, "approvals.approve", run_id=mine[1]), "forbidden", "nor of a blocked user")
root.call("admin.unblock", uid=USER)
eq(root.call("admin.kill_all")["killed"], 23, "kill-all ends what waits")
root.call("admin.resume")
ok(wait_until(lambda: root.call("admin.status")["parked"] == 0), "all of it")
eq(user.call("wait", run_id=mine[2])["outcome"], "canceled", "as cancelled")

events = [notice[1][0] for notice in (watcher.notices or [])]
watcher.sock.settimeout(0.5)
try:
    watcher.receive(10 ** 6)
except TimeoutError:
    pass
kinds = [notice[1][0]["kind"] for notice in watcher.notices]
ok({"asked", "approved", "denied", "started"} <= set(kinds), f"events: {len(kinds)} were told", set(kinds))
starts = {notice[1][0]["run_id"] for notice in watcher.notices if notice[1][0]["kind"] == "started"}
denied = {notice[1][0]["run_id"] for notice in watcher.notices if notice[1][0]["kind"] == "denied"}
eq(starts & denied, set(), "nothing that was denied was started")
done()
