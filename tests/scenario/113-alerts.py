"""Alerts: subscribers, the log and commands get them, and nothing else does."""

import json
import os
import sys
import time

from wire import Client, done, eq, ok, wait_until

folder, log, runner_log = sys.argv[1:4]
client = Client()
ears = Client()
ears.call("events.subscribe", kinds=["alert"])


def alerts():
    """The alerts received so far."""
    ears.call("hello")
    return [notice[1][0] for notice in ears.notices]


def heard(name):
    return [event for event in alerts() if event["alert"] == name]


def left(name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def run(code, **params):
    return client.call("run", language="python", code=code, **params)


run("print(1)")
eq(alerts(), [], "an ordinary run is nothing to tell of")
result = run("while True: pass", limits={"wall_ms": 100})
ok(wait_until(lambda: heard("limits")), "an outcome that is waited for is")
event = heard("limits")[0]
eq((event["run_id"], event["outcome"], event["uid"]), (result["run_id"], "wall_limit", os.getuid()),
   "with the run, its outcome and its user")
ok(wait_until(lambda: left("limits")), "and its command is started")
eq({key: left("limits")[0][key] for key in ("kind", "alert", "run_id", "outcome")},
   {"kind": "alert", "alert": "limits", "run_id": result["run_id"], "outcome": "wall_limit"},
   "with the event on its stdin")

for _ in range(2):
    run("import os", policy="strict", agent="planner")
eq(heard("denials"), [], "two denials are not three")
run("import os", policy="strict", agent="writer")
eq(heard("denials"), [], "another agent's counts for itself")
run("import os", policy="strict", agent="planner")
ok(wait_until(lambda: heard("denials")), "three are")
eq(heard("denials")[0]["agent"], "planner", "and it is said whose")
for _ in range(6):
    run("import os", policy="strict", agent="planner")
eq(len(heard("denials")), 1, "then it rests")

run("import socket; print(2)")
ok(wait_until(lambda: heard("network")), "a finding that is waited for is told")
eq(heard("network")[0]["rule"], "python.import.dangerous", "with its rule")

eq(heard("new-code"), [], "who is not watched may run what is new")
run("print('first')", agent="steady")
ok(wait_until(lambda: len(heard("new-code")) == 1), "a program that this agent has not run before is told")
run("print('first')", agent="steady")
time.sleep(0.3)
eq(len(heard("new-code")), 1, "the same again is not")
run("print('second')", agent="steady")
ok(wait_until(lambda: len(heard("new-code")) == 2), "another one is")

# Commands that fail, hang or are too many do not delay anything.
begun = time.monotonic()
for _ in range(12):
    try:
        run("raise ValueError()")
    except RuntimeError as error:
        ok(False, "runs go on", error)
took = time.monotonic() - begun
ok(took < 60, "a command that hangs holds no run up", took)
status = client.call("admin.status")["alerts"]
eq(status["rules"], 7, "status says how many rules there are")
ok(status["raised"] >= 17 and status["last"] == "hangs", "and what was told", status)


def logged(path, word):
    with open(path, encoding="utf-8") as file:
        return sum(word in line for line in file)


ok(logged(log, f"alert alert=limits run={result['run_id']} outcome=wall_limit"), "the log has it")
ok(wait_until(lambda: logged(runner_log, "alert.command alert=hangs how=dropped") >= 8), "commands beyond four at a time are dropped")
ok(wait_until(lambda: logged(runner_log, "alert.command alert=hangs how=late") == 4), "those that hang are killed after ten seconds")
run("print(3)", agent="missing")
ok(wait_until(lambda: logged(runner_log, "alert=missing how=failed status=127")), "a program that is not there is said")
done()
