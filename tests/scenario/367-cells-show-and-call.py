"""Cells of a session display values and call tools; each cell for itself."""

import os

from toolbox import Failed, Silence, Toolbox, tool
from wire import done, eq, ok, wait_until

box = Toolbox()
PATIENT = {"wall_ms": 60000, "cpu_ms": 60000, "calls_ms": 60000, "call_ms": 30000}


def opened(**params):
    return box.call("session.open", language="python", limits=PATIENT, **params)["session"]


def close(session):
    box.call("session.close", session=session)


def cell(session, code, tools=None, functions=None, **params):
    if tools:
        params["tools"] = tools
    box.calls.clear()
    return box.finish(box.send("run", language="python", code=code, session=session, **params), functions)


def begins_in_kept_state(result):
    return result["session"]["from"] in result["session"]["kept"]


def texts(result):
    return [item["data"].get("text/plain") for item in result["display"]]


def outcome(result):
    return result["outcome"], result["stdout"]


# ---- displays ------------------------------------------------------------------------------------

COUNT = """
import os
def count():
    found = 0
    for fd in range(256):
        try: found += os.fstat(fd) is not None
        except OSError: pass
    return found
print(count())
"""

for states in 0, 2:
    print(f"# with {states} kept states")
    session = opened(states=states)
    eq(cell(session, "x = 41").get("display"), None, "a cell that does not display has none")
    eq(texts(cell(session, "x + 1", display=True)), ["42"], "the next one displays the value of its last expression")
    eq(texts(cell(session, "display('a', x)\nx", display=True)), ["'a'", "41", "41"], "and what it is told to")
    eq(outcome(cell(session, "display('lost'); print('on')")), ("ok", "on\n"),
       "in a cell that does not display, what is displayed goes nowhere")
    eq(texts(cell(session, "display('found')", display=True)), ["'found'"], "and not into the next")
    eq(cell(session, "keep = display\ndef show(): keep('kept')", display=True)["display"], [], "a function that displays")
    eq(texts(cell(session, "show()", display=True)), ["'kept'"], "displays in the cell that calls it")
    eq(texts(cell(session, "1 / 0", display=True)), [], "an exception is none")
    eq(texts(cell(session, "import asyncio\nawait asyncio.sleep(0, 'slept')", display=True)), ["'slept'"], "a cell may await")
    eq(texts(cell(session, "task = asyncio.get_event_loop().create_task(asyncio.sleep(0, 'later'))\n'made'", display=True)),
       ["'made'"], "a task that a cell leaves")
    eq(texts(cell(session, "await task", display=True)), ["'later'"], "goes on in a later cell that awaits")
    before = cell(session, COUNT)["stdout"]
    for number in range(20):
        cell(session, f"display({number})", display=True)
    eq(cell(session, "print(count())")["stdout"], before, "twenty cells that display leave no descriptor open")
    if states:
        box.call("session.rollback", session=session, state=box.call("session.list")["sessions"][0]["kept"][0])
        eq(texts(cell(session, "display('again')\nx", display=True)), ["'again'", "41"], "after a rollback a cell displays")
    close(session)

# ---- tools ---------------------------------------------------------------------------------------


def add(a, b):
    return a + b


def lose(**_):
    raise Failed("no luck")


def sleep(**_):
    raise Silence


NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
ADD = [tool("add", NUMBERS)]
BOTH = [tool("add", NUMBERS), tool("lose")]
FUNCTIONS = {"add": add, "lose": lose, "sleep": sleep}

for states in 0, 2:
    print(f"# with {states} kept states")
    session = opened(states=states)
    eq(cell(session, "x = 1\nprint(tools)")["error"]["type"], "NameError", "a cell without tools has no such name")
    eq(outcome(cell(session, "import tools\nfrom tools import add\nprint(add(20, 22))", ADD, FUNCTIONS)), ("ok", "42\n"),
       "a later cell calls a tool")
    eq([call["args"] for call in box.calls], [{"a": 20, "b": 22}], "its client is asked")
    result = cell(session, "def twice(n): return add(n, n)\nprint(twice(4), tools.add(1, 1))", BOTH, FUNCTIONS)
    eq(outcome(result), ("ok", "8 2\n"), "what an earlier cell imported is called in this one")
    eq((result["calls"]["count"], result["calls"]["by_tool"]), (2, {"add": 2}), "and counted for it")
    failed = cell(session, "try: twice(3)\nexcept Exception as error: print(type(error).__name__, error.code)")
    eq(outcome(failed), ("ok", "ToolError unknown_tool\n"), "in a cell without tools it fails")
    eq((failed.get("calls"), box.calls), (None, []), "and asks nobody")
    eq(outcome(cell(session, "try: tools.lose()\nexcept tools.ToolError as error: print(error.code)\nprint(twice(5))", ADD, FUNCTIONS)),
       ("exception", ""), "a tool that is not offered any more is not in the module")
    eq(outcome(cell(session, "print(twice(6))", ADD, FUNCTIONS)), ("ok", "12\n"), "the session goes on")
    eq(outcome(cell(session, "print(add(1, 2))", ADD, FUNCTIONS, tools_as="functions")), ("ok", "3\n"), "as functions")
    eq(texts(cell(session, "add(2, 3)", ADD, FUNCTIONS, tools_as="functions", display=True)), ["5"], "with display")
    eq(outcome(cell(session, "print(await add(4, 5))", ADD, FUNCTIONS, tools_as="async")), ("ok", "9\n"), "as coroutines")
    eq(texts(cell(session, "await add(6, 7)", ADD, FUNCTIONS, tools_as="async", display=True)), ["13"], "with display")
    limited = cell(session, "from tools import add\nfor n in range(3):\n try: print(add(n, 0))\n except tools.ToolError as error: print(error.code)",
                   ADD, FUNCTIONS, limits={**PATIENT, "calls": 2})
    eq(outcome(limited), ("ok", "0\n1\ntoo_many\n"), "a limit on calls")
    eq(outcome(cell(session, "print(add(n, 0), add(n, 1), add(n, 2))", ADD, FUNCTIONS)), ("ok", "2 3 4\n"), "counts anew in each cell")
    # A thread that has not asked yet when its cell ends is too late: then once more.
    for attempt in range(20):
        left = cell(session, "import threading, time\nsaid = []\nthread = threading.Thread(target=lambda: said.append(add(7, 7)))\nthread.start()\ntime.sleep(0.01)\nprint('left')",
                    ADD, FUNCTIONS)
        if left["calls"]["count"]:
            break
        cell(session, "thread.join()")
    eq(outcome(left), ("ok", "left\n"), "a thread calls when its cell ends")
    eq(left["calls"]["failed"], 0, "the cell ends when the call is answered")
    eq(outcome(cell(session, "thread.join()\nprint(said)")), ("ok", "[14]\n"), "and the next cell has the answer")
    many = cell(session, """
import threading, time
more = True
def go():
    while more:
        try: add(1, 1)
        except tools.ToolError as error:
            codes.add(error.code)
            time.sleep(0.001)
codes = set()
threads = [threading.Thread(target=go) for _ in range(4)]
for thread in threads: thread.start()
time.sleep(0.05)
print('on')
""", ADD, FUNCTIONS, limits={**PATIENT, "calls": 4096})
    eq(outcome(many), ("ok", "on\n"), "threads that go on calling do not keep the cell")
    eq(outcome(cell(session, "time.sleep(0.02)\nmore = False\nfor thread in threads: thread.join()\nprint(codes)")),
       ("ok", "{'unknown_tool'}\n"), "in a cell without tools they fail")
    for attempt in range(20):
        slow = cell(session, "import tools\nthread = threading.Thread(target=tools.sleep)\nthread.start()\ntime.sleep(0.01)",
                    [tool("sleep", timeout_ms=150)], FUNCTIONS)
        if slow["calls"]["count"]:
            break
        cell(session, "thread.join()")
    eq((slow["outcome"], slow["calls"]["failed"]), ("ok", 1), "a call that nobody answers ends with its time, and the cell with it")
    cell(session, "thread.join()")
    # A joined thread may still be ending when the cell does, and a state with threads is not kept.
    if states:
        ok(wait_until(lambda: begins_in_kept_state(cell(session, "pass"))), "once it has ended, states are kept")
    killed = cell(session, "import tools\ntools.sleep()", [tool("sleep")], FUNCTIONS, limits={**PATIENT, "calls_ms": 300})
    eq(killed["outcome"], "wall_limit", "one that waits too long is killed")
    if states:
        eq(killed["session"].get("went_back"), killed["session"]["from"], "and undone")
        eq(outcome(cell(session, "from tools import add\nprint(add(8, 8), twice(1))", ADD, FUNCTIONS)), ("ok", "16 2\n"),
           "the state that goes on calls tools, too")
        kept = box.call("session.list")["sessions"][0]["kept"]
        eq(outcome(cell(session, "print(twice(8))", ADD, FUNCTIONS, **{"from": kept[0]})), ("ok", "16\n"), "and one that a cell names")
        close(session)
    else:
        eq(killed["session"]["state"], None, "with the session, which keeps no state")

# ---- what hostile cells try ------------------------------------------------------------------------

session = opened(states=2)
eq(cell(session, "import os\nx = 5")["outcome"], "ok", "a session")
for name, code in (
    ("an answer that is half read", "import socket\nsock = socket.socket(fileno=os.dup(3))\nimport _thread\n"
     "from tools import add\nimport threading\nthreading.Thread(target=lambda: sock.recv(7)).start()\nadd(1, 1)"),
    ("an answer that another thread takes", "from tools import add\nimport threading\n"
     "threading.Thread(target=lambda: os.read(3, 4096)).start()\nadd(2, 2)"),
    ("a forged done word while a call waits", "import struct, threading\nfrom tools import add\nthreading.Thread(target=lambda: add(3, 3)).start()\n"
     "os.write(3, struct.pack('<IIIi', int.from_bytes(MAGIC, 'little'), 5, 0, 0))"),
):
    result = cell(session, code.replace("MAGIC", repr(b"ceds")), ADD, FUNCTIONS, limits={**PATIENT, "wall_ms": 2000, "calls_ms": 2000})
    print("#", name, result["outcome"], result["session"])
    if result["session"]["state"] is None:
        session = opened(states=2)
        cell(session, "import os\nx = 5")
    after = cell(session, "print(x)")
    ok(outcome(after) == ("ok", "5\n") or after["session"].get("went_back") is not None or after["session"]["state"] is None,
       f"{name}: hurts its own session at most", after)
    if after["session"]["state"] is None:
        session = opened(states=2)
        cell(session, "import os\nx = 5")
    ok(box.run("print(1)")["outcome"] == "ok", f"{name}: others run")
done()
