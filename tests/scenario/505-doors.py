"""Rows: denied programs.  Columns: doors, the methods that can start a program.

A new door is one function with @door, which names its method.  The test fails if a method of
proto/method/method_table.h neither has a door nor is listed as one that starts nothing."""

import hashlib
import os
import re
import sqlite3
import sys
import time

from wire import Client, done, eq, ok

MARK = "the-mark-of-a-denied-program"
LEAVE = f"print('{MARK[:8]}' + '{MARK[8:]}')\n"
FILE = f"open('left.txt', 'w').write('{MARK[:8]}' + '{MARK[8:]}')\n"
NODE = f"console.log('{MARK[:8]}' + '{MARK[8:]}')\n"
BASH = f"echo {MARK[:8]}''{MARK[8:]}\n"

# Each leaves its mark at its very beginning and its very end if it runs.
PROGRAMS = {
    "an import": ("python", LEAVE + FILE + "import socket\n" + LEAVE),
    "a call": ("python", LEAVE + FILE + "eval('1')\n" + LEAVE),
    "a call that is hidden": ("python", LEAVE + FILE + "\uff45val('1')\n" + LEAVE),
    "an import in a file": ("python", LEAVE + FILE + "import helper\n" + LEAVE),
    "no text at all": ("python", LEAVE.encode() + b"x = '\xff'\n"),
    "a connection in bash": ("bash", BASH + "cat < /dev/tcp/127.0.0.1/80\n" + BASH),
    "eval in bash": ("bash", BASH + 'eval "echo 1"\n' + BASH),
    "a module of node": ("javascript", NODE + "require('child_process')\n" + NODE),
    "a function made of text in node": ("javascript", NODE + "new Function('return 1')()\n" + NODE),
}
HELPER = [{"path": "helper.py", "data": "import socket\n" + LEAVE}]

# Methods that start no program.  A new method belongs here or has a door.
STARTS_NOTHING = set("""admin.acts config.show admin.reload admin.block admin.drain admin.gc admin.kill_all admin.resume admin.status admin.metrics health admin.unblock admin.reset_budget budgets.list approvals.deny approvals.list approvals.revoke audit.backup blob.put blob.get
    audit.checkpoint audit.export audit.key audit.verify cancel events.subscribe hello policies.list policies.show
    policies.test runs.get runs.list
    runs.output runtimes session.close session.drop session.keep session.list session.rollback stats wait call.reply""".split())

root = Client()
doors = []
seen = []


def door(*methods):
    def add(function):
        doors.append((methods, function))
        return function
    return add


def params(program, **more):
    language, code = PROGRAMS[program]
    return {"language": language, "code": code, "policy": "strict", "files": HELPER, "artifacts": ["*"], **more}


def ask(method, client=root, **asked):
    error, result = client.receive(client.send(method, **asked))
    return error or result


def waited(result):
    return ask("wait", run_id=result["run_id"]) if "outcome" not in result and "run_id" in result else result


def name_of(program, door_name):
    return f"{door_name}-{hashlib.sha256(program.encode()).hexdigest()[:8]}"


# ---- the doors ---------------------------------------------------------------------------------------------

@door("run")
def run(program):
    return ask("run", **params(program))


@door("check")
def check(program):
    return ask("check", **params(program))


@door("run")
def detached(program):
    return waited(ask("run", **params(program, detach=True)))


@door("run", "session.open")
def cell(program):
    """In a session, behind a cell that is allowed; only Python has sessions."""
    asked = params(program)
    if asked["language"] == "python":
        asked["session"] = ask("session.open", language="python", policy=asked.pop("policy"))["session"]
        ask("run", session=asked["session"], code="x = 1")
    result = ask("run", **asked)
    if "session" in asked:
        ask("session.close", session=asked["session"])
    return result


@door("run")
def streamed(program):
    root.notices.clear()
    result = ask("run", **params(program, stream=True))
    return {"result": result, "notices": list(root.notices)}


@door("run")
def cache_use(program):
    return [ask("run", **params(program, cache="use")) for _ in range(2)]


@door("run")
def cache_refresh(program):
    return [ask("run", **params(program, cache="refresh")), ask("run", **params(program, cache="use"))]


@door("run")
def known_under_another_policy(program):
    """It ran under a policy that allows it, and its result is cached; under this policy no caller gets that result."""
    language, code = PROGRAMS[program]
    for mode in "refresh", "use":
        allowed = ask("run", language=language, code=code, policy="observe", files=HELPER, artifacts=["*"], cache=mode)
        if allowed.get("outcome") in ("ok", "exception"):
            allow(allowed["run_id"])
    return [ask("run", **params(program, cache="use", limits=limits)) for limits in ({}, {"wall_ms": 5000})]


@door("run")
def repeated(program):
    name = name_of(program, "repeated")
    return [ask("run", **params(program, id=name)) for _ in range(3)]


@door("run")
def repeated_by_many(program):
    clients = [Client() for _ in range(6)]
    asked = [client.send("run", **params(program, id=name_of(program, "many"))) for client in clients]
    answers = [client.receive(msgid) for client, msgid in zip(clients, asked)]
    for client in clients:
        client.close()
    return [error or result for error, result in answers]


@door("run")
def repeated_after_an_allowed_one(program):
    """The id belongs to a harmless run; the denied program does not take its place."""
    name = name_of(program, "harmless")
    ask("run", language="python", code="1", policy="strict", id=name)
    return ask("run", **params(program, id=name))


@door("run")
def repeated_and_left(program):
    client = Client()
    client.send("run", **params(program, id=name_of(program, "left")))
    client.close()
    return ask("run", **params(program, id=name_of(program, "left")))


@door("run")
def named_otherwise(program):
    return ask("run", **params(program, entrypoint="data.txt"))


@door("run")
def deterministic(program):
    return ask("run", **params(program, deterministic=True))


@door("run")
def with_a_contract_on_its_output(program):
    return ask("run", **params(program, output="json", schema={"type": "string"}))


@door("run")
def with_a_file_that_was_sent_ahead(program):
    sent = ask("blob.put", data=HELPER[0]["data"])["sha256"]
    return ask("run", **params(program, files=[{"path": "helper.py", "blob": sent}]))


@door("run")
def in_one_message_with_others(program):
    """Its neighbours are harmless."""
    client = Client()
    asked = [client.send("run", language="python", code="1", policy="strict"), client.send("run", **params(program)),
             client.send("run", language="python", code="1", policy="strict")]
    answers = [client.receive(msgid) for msgid in asked]
    client.close()
    return answers[1][0] or answers[1][1]


@door("runs.replay")
def replayed(program):
    """Replays the record of a denied run; the record includes its policy."""
    denied = ask("run", **params(program))
    return [ask("runs.replay", run_id=denied["run_id"])["result"], denied]


@door("approvals.approve")
def approved_although_denied(program):
    """An approval does not help a denied program, neither this time nor the next."""
    denied = ask("run", **params(program))
    ask("approvals.approve", run_id=denied["run_id"], reason="the matrix", **{"for": "code"})
    return [denied, ask("run", **params(program)), ask("runs.get", run_id=denied["run_id"])]


# ---- walking through them ------------------------------------------------------------------------------------

allowed_runs = set()


def allow(run_id):
    allowed_runs.add(run_id)


def results_in(value):
    if isinstance(value, dict):
        if "outcome" in value or "would" in value or "code" in value and "message" in value:
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from results_in(item)


def holds_mark(value):
    if isinstance(value, dict):
        return any(holds_mark(item) for key, item in value.items() if key not in ("code", "findings", "request"))
    if isinstance(value, (list, tuple)):
        return any(map(holds_mark, value))
    return MARK.encode() in value if isinstance(value, bytes) else isinstance(value, str) and MARK in value


def is_denied(result):
    if "would" in result:
        return result["would"] == "deny"
    return result.get("code") == "conflict" or (result.get("outcome"), result.get("ran")) == ("policy_denied", "no")


def walk():
    for methods, function in doors:
        wrong = []
        for program in PROGRAMS:
            answer = function(program)
            results = list(results_in(answer))
            seen.extend(result["run_id"] for result in results if "run_id" in result)
            if not results or holds_mark(answer) or not all(map(is_denied, results)):
                wrong.append((program, answer))
        name = function.__name__.replace("_", " ")
        ok(not wrong, f"{', '.join(methods)}: {name}: all {len(PROGRAMS)} are denied and leave no mark", wrong[:1])


def table_of_methods():
    with open(os.environ["CED_METHODS"], encoding="utf-8") as file:
        return set(re.findall(r'X\(\w+, +"([\w.]+)"', file.read()))


def look_around():
    """Every record and every event, except those of the allowed runs."""
    before = None
    count = 0
    wrong = []
    while True:
        page = root.call("runs.list", limit=1000, **({"before": before} if before else {}))
        for run_ in page["runs"]:
            count += 1
            if run_["run_id"] not in allowed_runs and holds_mark(root.call("runs.get", run_id=run_["run_id"])):
                wrong.append(run_["run_id"])
        if not page["more"]:
            break
        before = page["runs"][-1]["run_id"]
    ok(count >= len(seen) > 60, f"{count} records were looked through")
    ok(not wrong, "none holds the mark", wrong[:3])


if sys.argv[1] == "before":
    language, code = PROGRAMS["an import"]
    result = ask("run", language=language, code=code, policy="observe", artifacts=["*"])
    allow(result["run_id"])
    ok(holds_mark(result["stdout"]) and holds_mark(result["artifacts"]), "where it is allowed it leaves its mark", result)
    methods = {method for names, _ in doors for method in names}
    eq(table_of_methods() - methods - STARTS_NOTHING, set(), "every method has a door here, or starts nothing")
    eq((methods | STARTS_NOTHING) - table_of_methods(), set(), "and what stands here is a method")
    walk()
    look_around()
else:
    # A killed daemon loses its cached verdicts but keeps its record.
    walk()
done()
