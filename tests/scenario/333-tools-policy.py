"""Policies decide about the calls of tools: they deny them, or an approver decides about each."""

import json
import os
import time

from toolbox import Toolbox, tool
from wire import Client, done, eq, ok, wait_until

USER, OTHER, APPROVER, SECOND = 4001, 4004, 4002, 4003
PATIENT = {"wall_ms": 60000, "cpu_ms": 60000, "calls_ms": 600000, "call_ms": 60000}
TOOLS = [tool(name) for name in ("search", "send_mail", "send_all", "drop", "other")]
ECHO = {name: lambda **args: args for name in ("search", "send_mail", "send_all", "drop", "other")}
TRY = """
def attempt(name, **args):
    try: print(name, getattr(tools, name)(**args))
    except tools.ToolError as error: print(name, error.code, error.message)
"""


def connect(uid, kind=Client):
    """Connects as this user: the kernel reports the current uid to the daemon."""
    os.seteuid(uid)
    client = kind()
    os.seteuid(0)
    return client


box, other = connect(USER, Toolbox), connect(OTHER)
approver, second, watcher, root = connect(APPROVER), connect(SECOND), connect(APPROVER), connect(0)
watcher.call("events.subscribe", kinds=["asked", "approved"])


def start(code, policy="mailers", tools=None, **params):
    return box.start(code, tools or TOOLS, policy=policy, limits=PATIENT | params.pop("limits", {}), **params)


def work(code, policy="mailers", **params):
    return box.finish(start(code, policy, **params), ECHO)


def event(kind):
    """The next event of this kind."""
    while True:
        for at, notice in enumerate(watcher.notices):
            if notice[1][0]["kind"] == kind:
                return watcher.notices.pop(at)[1][0]
        for message in watcher.unpacker:
            watcher.notices.append(message[1:])
        if not any(notice[1][0]["kind"] == kind for notice in watcher.notices):
            watcher.unpacker.feed(watcher.sock.recv(1 << 16))


def asked(count=1):
    """The next calls that an approver is asked about, in the order of their numbers."""
    return sorted((event("asked") for _ in range(count)), key=lambda told: told["call"])


def code_of(client, method, **params):
    """The error's code, or None."""
    error, _ = client.receive(client.send(method, **params))
    return error and error["code"]


def rows(result, *keys):
    return [tuple(row.get(key) for key in keys) for row in box.record(result)]


def waiting(**params):
    return approver.call("approvals.list", **params)["calls"]


def heard(run_id):
    """What the client was told of the calls of a run that wait for an approver."""
    return [notice[1][0] for notice in box.notices if notice[0] == "run.call_asked" and notice[1][0]["run_id"] == run_id]


def overs(run_id):
    return [(over["call"], over["why"]) for over in box.over if over["run_id"] == run_id]


# ---- deny ------------------------------------------------------------------------------------------

result = work(TRY + "attempt('drop', table='users')\nattempt('send_all')\nattempt('other')\nattempt('search', q=1)")
eq((result["outcome"], result["stdout"].splitlines()),
   ("ok", ["drop denied policy mailers denies this tool (tools.deny drop)",
           "send_all denied policy mailers denies this tool (tools.deny send_all)",
           "other denied policy mailers denies this tool (tools.allow)", "search {'q': 1}"]),
   "a denied call is an error of the program: by name, before another list, or by being in no list")
eq([call["tool"] for call in box.calls], ["search"], "the client sees the allowed call alone")
eq((result["calls"]["count"], result["calls"]["failed"], result["calls"]["denied"]), (4, 3, 3), "the result counts them")
eq(rows(result, "call", "tool", "verdict", "code", "rule"),
   [(1, "drop", "denied", "denied", "tools.deny drop"), (2, "send_all", "denied", "denied", "tools.deny send_all"),
    (3, "other", "denied", "denied", "tools.allow"), (4, "search", "allowed", None, "tools.allow search")],
   "the record says what was decided, and by which rule")
eq(box.record(result)[0]["args"], {"table": "users"}, "and has the arguments of denied calls too")
result = work("print(1)")
eq((result["outcome"], result["calls"]["count"]), ("ok", 0), "to offer a tool that is denied is no error")
result = work("import tools\ntry: tools.drop(n='x')\nexcept tools.ToolError as error: print(error.code)",
              tools=[tool("drop", {"properties": {"n": {"type": "integer"}}})])
eq(result["stdout"], "bad_arguments\n", "arguments are compared with the schema first")

result = work(TRY + "attempt('drop')\nattempt('send_mail')\nattempt('other')", policy="mailers-child")
eq(result["stdout"].splitlines(), ["drop denied policy mailers-child denies this tool (tools.deny drop)", "send_mail {}",
                                   "other denied policy mailers-child denies this tool (tools.allow)"],
   "a policy inherits the lists that it does not write, and replaces the one that it writes")
result = work(TRY + "attempt('drop')", policy="standard")
eq((result["stdout"], rows(result, "verdict", "rule")), ("drop {}\n", [("allowed", None)]), "a policy without lists allows all")
result = work(TRY + "attempt('drop')\nattempt('other')", policy="no-drop")
eq(result["stdout"], "drop denied policy no-drop denies this tool (tools.deny dr*)\nother {}\n",
   "without a list `allow` the others are allowed; * stands for any end")
result = work(TRY + "attempt('search')", policy="none")
eq(result["stdout"], "search denied policy none denies this tool (tools.allow)\n", "an empty list `allow` denies all")
for language, code, stdout in (("javascript", "tools.drop({}).catch((e) => console.log(e.code))", "denied\n"),
                               ("bash", "ced-call drop '{}' 2>&1 | jq -r .code", "denied\n")):
    eq(work(code, language=language)["stdout"], stdout, f"so it is in {language}")

# ---- an approver says yes --------------------------------------------------------------------------

msgid = start(TRY + "attempt('send_mail', to='ann', key='hunter2hunter2')", secrets=["hunter2hunter2"], agent="ann")
told = asked()[0]
eq((told["uid"], told["call"], told["tool"], told["rules"], told["policy"]), (USER, 1, "send_mail", ["tools.ask send_*"], "mailers"),
   "an approver learns of a call that waits")
run_id = told["run_id"]
listed = waiting()
eq([{key: row[key] for key in ("run_id", "call", "uid", "agent", "tool", "policy", "rule", "effects")} for row in listed],
   [dict(run_id=run_id, call=1, uid=USER, agent="ann", tool="send_mail", policy="mailers", rule="tools.ask send_*", effects=False)],
   "it is listed")
ok(listed[0]["args"]["to"] == "ann" and "hunter2" not in json.dumps(listed), "with its arguments, masked", listed)
eq(len(waiting(run_id=run_id)), 1, "by its run")
eq((len(waiting(run_id=run_id, call=1)), len(waiting(run_id=run_id, call=2))), (1, 0), "and by its number")
box.call("runs.get", run_id=run_id)
eq([notice for notice in box.notices if notice[0] == "run.call"], [], "the client has not got it")
eq(heard(run_id), [dict(run_id=run_id, call=1, tool="send_mail", policy="mailers", rule="tools.ask send_*",
                        until_us=listed[0]["until_us"])], "but it knows that the call waits, and until when")
eq((code_of(other, "approvals.list"), code_of(other, "approvals.approve", run_id=run_id, call=1)), ("forbidden", "forbidden"),
   "only approvers see it")
eq(code_of(approver, "approvals.approve", run_id=run_id, call=2), "conflict", "a call that does not wait is not decided")
eq(code_of(approver, "approvals.approve", run_id=run_id), "conflict", "nor is the run, which does not wait")
eq(code_of(approver, "approvals.approve", run_id=run_id, call=1, **{"for": "code"}), "bad_request", "there are no approvals of later calls")
eq(code_of(approver, "approvals.list", call=1), "bad_request", "a call has no number without its run")
eq((listed[0]["masked"], code_of(approver, "approvals.approve", run_id=run_id, call=1)), (1, "conflict"),
   "what an approver cannot see in arguments he does not approve unawares")
time.sleep(0.3)
answer = approver.call("approvals.approve", run_id=run_id, call=1, reason="known", masked=True)
eq({key: answer[key] for key in ("run_id", "call", "tool", "decision", "uid")},
   dict(run_id=run_id, call=1, tool="send_mail", decision="approved", uid=USER), "an approver says yes")
result = box.finish(msgid, ECHO)
eq((result["outcome"], result["stdout"], box.calls[-1]["args"]["key"]),
   ("ok", "send_mail {'to': 'ann', 'key': 'hunter2hunter2'}\n", "hunter2hunter2"),
   "the client gets the call, and the program its answer")
eq((overs(run_id), len(heard(run_id))), ([], 1), "and hears no more of it")
ok(result["calls"]["waited_us"] > 300_000, "the run has waited meanwhile", result["calls"])
eq((event("approved")["call"], waiting()), (1, []), "and others learn that it is decided")
row = box.record(result)[0]
eq((row["verdict"], row["rule"], {key: row["approval"][key] for key in ("decision", "by", "act", "reason")}),
   ("allowed", "tools.ask send_*", dict(decision="approved", by=APPROVER, act=answer["act"], reason="known")),
   "the record has who decided, in which act, and why")
ok(row["approval"]["since_us"] <= row["approval"]["at_us"], "and when")
act = root.call("admin.acts")["acts"][0]
eq((act["act"], act["uid"], act["method"], act["result"]["call"]), (answer["act"], APPROVER, "approvals.approve", 1), "so has the list of acts")
eq(code_of(approver, "approvals.approve", run_id=run_id, call=1), "conflict", "afterwards it is too late")

# ---- and no ----------------------------------------------------------------------------------------

msgid = start(TRY + "attempt('send_mail', to='bob')\nattempt('search')")
run_id = asked()[0]["run_id"]
approver.call("approvals.deny", run_id=run_id, call=1, reason="not bob")
result = box.finish(msgid, ECHO)
eq(result["stdout"].splitlines(), [f"send_mail denied uid {APPROVER} denied the call: not bob", "search {}"],
   "a call that an approver denies is an error with the reason, and the run goes on")
eq((len(heard(run_id)), overs(run_id)), (1, [(1, "denied")]), "the client hears that nobody waits for it any more")
eq(rows(result, "verdict", "code")[0] + (box.record(result)[0]["approval"]["decision"],), ("denied", "denied", "denied"), "the record says so")

mine = connect(APPROVER, Toolbox)
msgid = mine.start(TRY + "attempt('send_mail')", TOOLS, policy="mailers", limits=PATIENT)
run_id = asked()[0]["run_id"]
eq([code_of(client, f"approvals.{word}", run_id=run_id, call=1) for client in (approver,) for word in ("approve", "deny")],
   ["forbidden", "forbidden"], "nobody decides about calls of his own runs")
second.call("approvals.approve", run_id=run_id, call=1)
eq(mine.finish(msgid, ECHO)["stdout"], "send_mail {}\n", "another approver does")

# ---- nobody decides --------------------------------------------------------------------------------

result = work(TRY + "attempt('send_mail')", limits={"calls_ms": 4000})
told = asked()[0]
eq((result["stdout"], rows(result, "verdict", "code"), box.record(result)[0]["approval"]["decision"]),
   ("send_mail timeout no approver decided in time\n", [("refused", "timeout")], "expired"), "an approver has what calls_ms leaves, less call_ms, and half at least")
eq((len(heard(told["run_id"])), overs(told["run_id"])), (1, [(1, "timeout")]), "the client hears of both")
eq((waiting(), code_of(approver, "approvals.approve", run_id=told["run_id"], call=1)), ([], "conflict"), "then it is not listed any more")
msgid = start(TRY + "attempt('send_mail')")
run_id = asked()[0]["run_id"]
box.finish(box.send("cancel", run_id=run_id))
result = box.finish(msgid)
eq((result["outcome"], rows(result, "verdict", "code"), waiting()), ("canceled", [("refused", "gone")], []), "a run that is cancelled takes its calls along")
eq(overs(run_id), [(1, "canceled")], "and its client knows")
leaver = connect(USER, Toolbox)
leaver.start(TRY + "attempt('send_mail')", TOOLS, policy="mailers", limits=PATIENT)
run_id = asked()[0]["run_id"]
leaver.close()
ok(wait_until(lambda: waiting() == []), "so does a client that leaves")

# ---- many ------------------------------------------------------------------------------------------

MANY = """
import asyncio
async def one(number):
    try: return await tools.send_mail.aio(number=number)
    except tools.ToolError as error: return error.code
async def all(): return await asyncio.gather(*(one(number) for number in range(%d)))
for answer in asyncio.run(all()): print(answer)
"""
msgid = start(MANY % 70, limits={"calls": 100})
told = asked(64)
run_id = told[0]["run_id"]
eq([row["call"] for row in told], list(range(1, 65)), "64 calls of a run wait at a time")
eq(len(waiting(run_id=run_id)), 64, "all are listed")
for row in told:
    (second if row["call"] % 2 else approver).call(f"approvals.{'approve' if row['call'] % 2 else 'deny'}", run_id=run_id, call=row["call"])
result = box.finish(msgid, ECHO)
eq([result["stdout"].splitlines().count(word) for word in ("denied", "too_many")], [32, 6], "further ones are refused")
eq(sorted(call["args"]["number"] for call in box.calls[-32:]), list(range(0, 64, 2)), "and each approved one reaches its client")
eq(len(box.record(result)), 70, "the record has all")
eq((sorted(row["call"] for row in heard(run_id)), sorted(overs(run_id))),
   (list(range(1, 65)), [(call, "denied") for call in range(2, 65, 2)]), "the client hears of each that waits, and of each that was denied")
msgid = start("import threading\n" + TRY + """
waits = threading.Thread(target=attempt, args=("send_mail",))
waits.start()
attempt("search")
waits.join()""")
run_id = asked()[0]["run_id"]
while not (box.calls and box.calls[-1]["tool"] == "search" and box.calls[-1]["run_id"] == run_id):
    box.take(box.next(), ECHO)
ok(True, "other calls go on while one waits")
approver.call("approvals.approve", run_id=run_id, call=waiting()[0]["call"])
eq(sorted(box.finish(msgid, ECHO)["stdout"].splitlines()), ["search {}", "send_mail {}"], "and it follows")

wins = {"approved": 0, "denied": 0}
msgid = start(MANY % 40, limits={"calls": 100})
for row in asked(40):
    run_id = row["run_id"]
    sends = [(approver, "approve"), (second, "deny"), (root, "approve")]
    sends = sends[row["call"] % 3:] + sends[:row["call"] % 3]
    asking = [(client, client.send(f"approvals.{word}", run_id=run_id, call=row["call"])) for client, word in sends]
    answers = [client.receive(number) for client, number in asking]
    good = [answer["decision"] for error, answer in answers if error is None]
    if len(good) != 1 or any(error["code"] not in ("conflict", "not_found") for error, _ in answers if error):
        ok(False, f"one of three decisions about call {row['call']} is first", answers)
        break
    wins[good[0]] += 1
result = box.finish(msgid, ECHO)
eq((result["stdout"].splitlines().count("denied"), sum(wins.values())), (wins["denied"], 40),
   f"of three decisions at once one is first: {wins}")

# ---- effects, blocked users, cells -----------------------------------------------------------------

msgid = start(TRY + "attempt('send_mail')", tools=[tool("send_mail", effects=True)])
run_id = asked()[0]["run_id"]
eq([row["effects"] for row in waiting()], [True], "an approver sees that a tool changes something")
root.call("admin.block", uid=USER)
eq(code_of(approver, "approvals.approve", run_id=run_id, call=1), "forbidden", "calls of a blocked user are not approved")
root.call("admin.unblock", uid=USER)
root.call("admin.drain", reason="noon")
approver.call("approvals.approve", run_id=run_id, call=1)
eq(box.finish(msgid, ECHO)["stdout"], "send_mail {}\n", "but those of a run that goes on while no new one may start")
root.call("admin.resume")

session = box.call("session.open", language="python", policy="mailers", limits=PATIENT)["session"]


def cell(code):
    return box.send("run", language="python", code=code, session=session, tools=TOOLS)


msgid = cell("import tools\n" + TRY + "attempt('send_mail', cell=1)")
told = asked()[0]
approver.call("approvals.approve", run_id=told["run_id"], call=1)
eq(box.finish(msgid, ECHO)["stdout"], "send_mail {'cell': 1}\n", "a cell of a session waits for its calls")
msgid = cell("attempt('send_mail', cell=1)\nattempt('drop')")
told = asked()[0]
approver.call("approvals.deny", run_id=told["run_id"], call=1)
eq([line.split()[1] for line in box.finish(msgid, ECHO)["stdout"].splitlines()], ["denied", "denied"],
   "the next cell is asked about again; the session's policy holds for it")
box.call("session.close", session=session)
done()
