"""Replays of runs that called tools.  `record` makes runs and replays them; `policy` replays the last under another policy."""

import sys

from toolbox import Failed, Silence, Toolbox, tool
from wire import Client, done, eq, ok

step, place = sys.argv[1:]
box, other = Toolbox(), Client()
LONG = {"wall_ms": 60000, "cpu_ms": 60000}
NAMES = ("note", "drop", "next", "fails", "slow", "nul", "nuldata")
counted = []


def silent(**args):
    raise Silence


def failing(**args):
    raise Failed("no such row", {"n": 3})


def failing_nul(**args):
    raise Failed("odd", {"a\0b": 3})


def following(**args):
    counted.append(args)
    return len(counted)


FUNCTIONS = {"note": lambda **args: {"noted": args}, "drop": lambda **args: "dropped", "next": following, "fails": failing, "slow": silent,
             "nul": lambda **args: [{"a\0b": 1}], "nuldata": failing_nul}
TOOLS = [tool(name, effects=name == "note", timeout_ms=300) for name in NAMES]


def work(code, language="python", **params):
    limits = {**LONG, **params.pop("limits", {})}
    return box.finish(box.send("run", language=language, policy="house", code=code, tools=TOOLS, limits=limits, **params), FUNCTIONS)


def replay(result, client=other, **params):
    return client.call("runs.replay", run_id=result["run_id"], **params)


def rows(result):
    return [(row["tool"], row["verdict"], row.get("code")) for row in box.record(result)]


TRY = """
import json
def attempt(name, **args):
    try: print(name, json.dumps(getattr(tools, name)(**args)))
    except tools.ToolError as error: print(name, error.code, error.message, json.dumps(error.data))
"""
ALL = TRY + "attempt('note', text='a'); attempt('drop'); attempt('next'); attempt('next'); attempt('fails'); attempt('slow'); attempt('next', n=1)"

if step == "record":
    first = work(ALL)
    eq(first["calls"]["count"], 7, "a run calls tools")
    before = len(box.calls)
    again = replay(first)
    eq((again["same"], again["differs"]), (True, []), "its replay comes out the same, on a connection that offers nothing")
    eq(again["result"]["stdout"], first["stdout"], "with the same results, errors and data")
    eq((len(box.calls) - before, [notice for notice in other.notices if notice[0] == "run.call"], len(counted)), (0, [], 3), "no client was asked, and no tool has worked twice")
    calls = again["result"]["calls"]
    eq((calls["count"], calls["recorded"], calls["failed"], "recorded" in first["calls"]), (7, 7, 2, False), "the result says how many calls were answered from the record")
    eq(rows(again["result"]), [(name, "recorded", code) for name, code in (("note", None), ("drop", None), ("next", None), ("next", None), ("fails", "failed"), ("slow", "timeout"), ("next", None))],
       "and so does each row of the new record")
    ok(again["result"]["metrics"]["exec_us"] < 250_000 or again["result"]["calls"]["waited_us"] < 250_000, "nothing waited for a client that did not answer", again["result"]["calls"])
    twice = replay(again["result"])
    eq((twice["same"], twice["result"]["calls"]["recorded"]), (True, 7), "a replay can be replayed")
    box.calls.clear()
    asked = box.finish(box.send("runs.replay", run_id=first["run_id"], calls="client"), FUNCTIONS)
    eq((len(box.calls), asked["same"], [difference["what"] for difference in asked["differs"]], "recorded" in asked["result"]["calls"]), (7, False, ["stdout"], False), "a caller that wants its tools asked says so")

    # The order of equal calls, threads, other engines.
    first = work("import threading\ngot = {}\ndef one(n): got[n] = tools.next(n=n)\nthreads = [threading.Thread(target=one, args=(n,)) for n in range(12)]\n"
                 "[thread.start() for thread in threads]; [thread.join() for thread in threads]\nprint(sorted(got.items()))")
    again = replay(first)
    eq((again["same"], again["result"]["calls"]["recorded"]), (True, 12), "calls of threads get the answers to their arguments, in whatever order they come")
    for language, code in (("node", "tools.next({a: 1}).then(async (n) => console.log(n, await tools.next({a: 1}), tools.note.sync({b: [1, null]})))"), ("bash", "ced-call next '{\"a\": 1}'; ced-call next '{\"a\":1}'; ced-call fails 2>&1; ced-call note '{\"b\": [1, null]}'")):
        first = work(code, language)
        again = replay(first)
        eq((first["outcome"], again["same"], again["result"]["calls"]["recorded"]), ("ok", True, first["calls"]["count"]), f"so do those of {language}")

    # What differs from the record.
    first = work(TRY + "import random; attempt('next', n=random.random()); attempt('next', n=1)")
    again = replay(first)
    lines = again["result"]["stdout"].splitlines()
    ok(not again["same"] and "not_recorded" in lines[0] and "the record that is replayed has no answer to this call of next" in lines[0], "a call with other arguments ends as an error that says so", lines)
    eq((rows(again["result"]), again["result"]["calls"]["recorded"]), ([("next", "refused", "not_recorded"), ("next", "recorded", None)], 1), "it was not made, and the next one has its own answer")
    ok({"stdout", "calls"} <= {difference["what"] for difference in again["differs"]}, "both are differences", again["differs"])
    clock = work(TRY + "import time\nfor _ in range(int(time.time() * 1000) % 1000 + 1): attempt('next')", limits={"calls": 4096})
    again = replay(clock)
    then, now = clock["calls"]["count"], again["result"]["calls"]["count"]
    eq(again["result"]["calls"]["recorded"], min(then, now), "a program that calls more often gets each answer once, and one that calls less often gets the first")
    ok(then == now or "calls" in {difference["what"] for difference in again["differs"]}, "the number is a difference", (then, now))

    # What the daemon itself refuses is refused again, and takes no recorded answer.
    first = work("for tool in nosuch next next next; do ced-call $tool 2>&1; done; true", "bash", limits={"calls": 3})
    again = replay(first)
    eq((again["same"], [row[1:] for row in rows(again["result"])]), (True, [("refused", "unknown_tool"), ("recorded", None), ("recorded", None)]), "unknown tools and calls past the limit end as they did")

    # What the record could not tell is no answer of a tool.
    answers = len(box.answers)
    first = work(TRY + "attempt('nul'); attempt('nuldata')")
    eq((first["stdout"].splitlines(), [answer[1]["data"]["pointer"] for answer in box.answers[answers:]]),
       (["nul bad_result a key holds U+0000 null", "nuldata bad_result the data of the error: a key holds U+0000 null"], ["/result", "/error/data"]),
       "U+0000 in a key of a result or of an error's data is refused, which program and client read")
    eq((replay(first)["same"], rows(first)), (True, [("nul", "allowed", "bad_result"), ("nuldata", "allowed", "bad_result")]), "the record has the errors, and its replay is the same")

    # Secrets are masked in the record, in arguments and in results.
    secret = "hunter2hunter2"
    first = work(TRY + "attempt('note', text='" + secret + "'); attempt('note', text='plain')", secrets=[secret])
    again = replay(first, secrets=[secret])
    eq(([row[1] for row in rows(again["result"])], secret in str(box.record(again["result"]))), (["recorded", "recorded"], False), "the program of the record calls with the mask, as the row has it")
    first = work(TRY + "s = 'hunter2' * 2\nattempt('note', text=s)", secrets=[secret])
    again = replay(first, secrets=[secret])
    eq((rows(again["result"]), again["result"]["stdout"]), ([("note", "recorded", None)], 'note {"noted": {"text": "[masked:secret]"}}\n'), "masked arguments are compared as they are stored, and a masked result stays masked")

    # Many, and large ones.
    first = work("print(sum(tools.next(n=n) for n in range(1000)))", limits={"calls": 1000})
    again = replay(first)
    eq((again["same"], again["result"]["calls"]["recorded"]), (True, 1000), "a thousand calls are answered")
    first = work("print(len(tools.note(text='x' * 200000)['noted']['text']))")
    eq(replay(first)["same"], True, "and long ones")
    first = work("import os, threading\nfor n in range(20): threading.Thread(target=lambda: tools.note(text='x'), daemon=True).start()\nos._exit(3)", limits={"pids": 64})
    eq(replay(first)["result"]["outcome"], first["outcome"], "a program that leaves while calls wait is over")
    error, _ = other.receive(other.send("runs.replay", run_id=first["run_id"], calls="both"))
    eq((error["code"], error["data"]["pointer"]), ("bad_request", "/calls"), "calls are recorded or the client's")
    first = work(TRY + "attempt('note', text='kept'); attempt('drop')")
    with open(place, "w", encoding="utf-8") as file:
        file.write(first["run_id"])
else:
    with open(place, encoding="utf-8") as file:
        again = other.call("runs.replay", run_id=file.read())
    lines = again["result"]["stdout"].splitlines()
    eq(lines[0], 'note {"noted": {"text": "kept"}}', "a call that today's policy asks about is answered without an approver")
    ok(lines[1].startswith("drop denied"), "one that today's policy denies is denied", lines)
    eq(rows(again["result"]), [("note", "recorded", None), ("drop", "denied", "denied")], "and the record says so")
    ok(any(change["what"] == "policy.digest" for change in again["circumstances"]), "the policy that has changed is named", again["circumstances"])
done()
