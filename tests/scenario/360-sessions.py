"""What users of sessions expect, in parts that 360-sessions.t names."""

import os
import sys
import threading
import time

from wire import Client, done, eq, ok, wait_until

USER, OTHER, ADMIN = 4001, 4004, 4002


def connect(uid):
    """Connects as this user: the kernel reports the current uid to the daemon."""
    os.seteuid(uid)
    client = Client()
    os.seteuid(0)
    return client


client = connect(USER)


def answer(method, by=None, **params):
    by = by or client
    return by.receive(by.send(method, **params))


def opened(by=None, **params):
    return (by or client).call("session.open", **{"language": "python", "states": 0, **params})["session"]


def close(session, by=None):
    return (by or client).call("session.close", session=session)


def send(session, code, **params):
    return client.send("run", session=session, code=code, **params)


def cell(session, code, by=None, **params):
    return (by or client).call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" else result


def sessions(by=None):
    return {session["session"]: session for session in (by or client).call("session.list")["sessions"]}


def refused(error):
    data = (error or {}).get("data") or {}
    return (error or {}).get("code"), data.get("pointer"), data.get("reason")


# ---- what a program sees -------------------------------------------------------------------------


def cells():
    told = client.call("session.open", language="python", states=0, task="count", labels={"a": "b"}, env={"WHO": "me"})
    ok(told["language"] == "python" and told["expires_us"] > 0 and told["limits"]["memory_bytes"] > 0, "session.open says what it opened", told)
    session = told["session"]
    one = cell(session, "import os, math\nx = 41\nprint(os.environ['WHO'], __name__)")
    eq((one["outcome"], one["stdout"]), ("ok", "me __main__\n"), "the first cell runs")
    eq([one["session"][key] for key in ("id", "cell", "state")], [session, 1, 1], "its result names the session, the cell and the state")
    eq(printed(session, "x += 1\nprint(x, math.floor(2.5))"), "42 2\n", "variables and imports stay")
    cell(session, "open('kept.txt', 'w').write('still here')\nos.makedirs('/tmp/a')")
    eq(printed(session, "print(open('kept.txt').read(), os.path.isdir('/tmp/a'))"), "still here True\n", "files stay")
    cell(session, "os.chdir('/tmp/a')")
    eq(printed(session, "print(os.getcwd())"), "/tmp/a\n", "and so does the folder")
    eq(printed(session, "import sys\nprint(open('/work/in.txt').read(), sys.argv[1:])", files=[{"path": "in.txt", "data": "sent"}], args=["p", "q"]),
       "sent ['p', 'q']\n", "a cell has files and arguments of its own")
    eq(printed(session, "print(sys.argv[1:])"), "[]\n", "which the next has not")
    cell(session, "os.chdir('/work')")
    eq(printed(session, "print(input(), repr(sys.stdin.read()))", stdin="one\ntwo\n"), "one 'two\\n'\n", "stdin is the cell's")
    eq(printed(session, "print(repr(sys.stdin.read()))"), "''\n", "and empty without one")
    cell(session, "sys.stdin.close()")
    eq(printed(session, "print(repr(sys.stdin.read()))"), "''\n", "also after one that has closed it")
    cell(session, "sys.stdin.detach()")
    eq(printed(session, "print(repr(sys.stdin.read()))"), "''\n", "or detached")
    cell(session, "import io; sys.stdin = io.StringIO('left')")
    eq(printed(session, "print(repr(sys.stdin.read()))"), "''\n", "or replaced")
    eq(printed(session, "print(repr(sys.stdin.read()))", stdin="x"), "'x'\n", "and there again when the next one has it")
    eq(printed(session, "print(repr(sys.stdin.read()))"), "''\n", "and no longer after that")
    eq(printed(session, "import json\nprint(json.load(sys.stdin)['k'])", input={"k": 7}), "7\n", "input comes on stdin")
    made = cell(session, "open('a.out', 'w').write('A')\nopen('b.txt', 'w')", artifacts=["*.out"])
    eq([(a["path"], bytes(a["data"]) if isinstance(a["data"], bytes) else a["data"].encode()) for a in made["artifacts"]], [("a.out", b"A")],
       "artifacts are collected while the session stands still")
    eq(printed(session, "print(sorted(os.listdir('/work')))"), "['a.out', 'b.txt', 'in.txt', 'kept.txt']\n", "and stay where they are")

    bad = cell(session, "x = 43\nraise ValueError('no')")
    eq((bad["outcome"], bad["exit_code"], bad["error"]["type"], bad["error"]["message"], bad["session"]["state"]),
       ("exception", 1, "ValueError", "no", bad["session"]["cell"]), "an exception ends a cell, not the session")
    eq(printed(session, "print(x)"), "43\n", "what it did before it stays")
    bad = cell(session, "x = (")
    eq((bad["outcome"], bad["error"]["type"], bad["error"]["line"]), ("syntax_error", "SyntaxError", 1), "a syntax error is told with its line")
    bad = cell(session, "x = 44\nsys.exit(3)")
    eq((bad["outcome"], bad["exit_code"], printed(session, "print(x)")), ("exit", 3, "44\n"), "sys.exit() ends only the cell")
    place = cell(session, "def f():\n    y = 1\n    raise KeyError(y)\n")["session"]["cell"]
    bad = cell(session, "1\nf()")
    ok(f"cell-{place}.py" in bad["stderr"] and "raise KeyError(y)" in bad["stderr"] and f"cell-{place + 1}.py" in bad["stderr"],
       "a traceback names cells and shows their lines", bad["stderr"])
    eq((bad["error"]["type"], bad["error"]["line"]), ("KeyError", 3), "and the result says where")
    failed = "import threading\ndef g():\n    raise KeyError('th')\nt = threading.Thread(target=g, name='T')\nt.start(); t.join()"
    plain = client.call("run", language="python", code=failed)["stderr"]
    mine = cell(session, failed)
    eq(mine["stderr"].replace(f"cell-{mine['session']['cell']}.py", "main.py"), plain, "an exception in a thread is printed as in a run")
    ok("    raise KeyError('th')\n" in plain, "with its line", plain)
    eq(printed(session, "import inspect\nprint(inspect.getsource(f).splitlines()[0])"), "def f():\n", "inspect finds the text of a cell")
    out = cell(session, "print('out')\nprint('err', file=sys.stderr)")
    eq((out["stdout"], out["stderr"]), ("out\n", "err\n"), "both streams are the cell's")
    client.notices.clear()
    cell(session, "print('streamed')", stream=True)
    ok(any(notice[0] == "run.output" and "streamed" in str(notice[1]) for notice in client.notices), "stream works in a cell", client.notices)
    eq(cell(session, "print('{\"a\": 1}')", output="json", schema={"type": "object", "required": ["a"]}).get("value"), {"a": 1},
       "a cell's output can be JSON with a schema")
    seen = client.call("check", session=session, code="x = (")
    ok(seen.get("would") in ("allow", "run", "deny", "ask") or "would" in seen, "check reads a cell", seen)
    before = sessions()[session]["cells"]
    client.call("check", session=session, code="x = 99")
    eq((sessions()[session]["cells"], printed(session, "print(x)")), (before, "44\n"), "and runs nothing")
    shown = sessions()[session]
    ok(shown["uid"] == USER and shown["task"] == "count" and not shown["busy"] and shown["waiting"] == 0 and shown["memory_bytes"] > 1 << 20,
       "session.list shows it", shown)
    cell(session, "class A: pass\nimport pickle\nb = pickle.loads(pickle.dumps(A()))")
    eq(printed(session, "print(type(b).__name__, sys.modules['__main__'].x)"), "A 44\n", "classes of __main__ can be pickled")
    cell(session, "import asyncio\nasync def g(): return 5")
    eq(printed(session, "print(asyncio.run(g()))"), "5\n", "an event loop runs in a later cell")
    other = opened()
    eq(cell(other, "print(x)")["error"]["type"], "NameError", "another session knows nothing of it")
    eq(printed(other, "import os\nprint(os.listdir('/work'), os.listdir('/tmp'))"), "[] []\n", "nor has its files")
    close(other)
    eq(close(session)["session"], session, "session.close ends it")
    error, _ = answer("run", session=session, code="1")
    eq(refused(error), ("not_found", "/session", "ended"), "then a cell is refused")
    eq(refused(answer("session.close", session=session)[0])[0], "not_found", "and so is another close")
    error, _ = answer("run", session="01ARZ3NDEKTSV4RRFFQ69G5FAV", code="1")
    eq(refused(error), ("not_found", "/session", "ended"), "one that never was is not found either")
    fresh = opened()
    eq((close(fresh)["cells"], sessions()), (0, {}), "a session may end without a cell")


# ---- limits --------------------------------------------------------------------------------------


def killed(name, outcome, code, **params):
    session = opened(**params.pop("opening", {}))
    cell(session, "x = 1")
    result = cell(session, code, **params)
    eq((result["outcome"], result["session"]["state"], result["session"].get("why")), (outcome, None, "killed"), f"{name} ends the session, and is told")
    eq(refused(answer("run", session=session, code="1")[0]), ("not_found", "/session", "ended"), f"after {name} it is gone")
    eq(sessions(), {}, f"and not listed after {name}")
    return result


def limits():
    killed("the time limit", "wall_limit", "while True: pass", limits={"wall_ms": 400})
    killed("the cpu limit", "cpu_limit", "while True: pass", limits={"cpu_ms": 300, "wall_ms": 60000})
    killed("too much memory", "memory_limit", "a = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): a[i] = 1",
           opening={"limits": {"memory_bytes": 128 << 20}})
    killed("too much output", "output_limit", "while True: print('x' * 1000)", limits={"stdout_bytes": 5000})
    killed("a signal", "signal", "import os\nos.kill(os.getpid(), 9)")
    killed("os._exit()", "exit", "import os\nos._exit(4)")
    session = opened(limits={"wall_ms": 30000, "cpu_ms": 800})
    for _ in range(4):
        result = cell(session, "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass")
        used = result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"]
        ok(result["outcome"] == "ok" and 400_000 < used < 790_000, "the cpu limit is each cell's, and its cpu time is its own", (result["outcome"], used))
    result = cell(session, "1")
    ok(result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"] < 200_000, "a short one after it used little", result["metrics"])
    eq(result["limits"]["wall_ms"], 30000, "limits of session.open are each cell's")
    eq(cell(session, "1", limits={"wall_ms": 2000})["limits"]["wall_ms"], 2000, "unless it asks for others")
    result = cell(session, "import sys\nfor i in range(1000): print(i)", limits={"stdout_bytes": 100}, on_output_limit="truncate")
    eq((result["outcome"], result["truncated"]), ("ok", ["stdout"]), "output can be cut")
    result = cell(session, "print(5)")
    eq((result["stdout"], result["truncated"]), ("5\n", []), "in that cell alone")
    close(session)
    session = opened(limits={"disk_bytes": 1 << 20})
    cell(session, "open('f', 'wb').write(b'x' * 900_000)")
    result = cell(session, "open('g', 'wb').write(b'x' * 900_000)")
    ok(result["outcome"] in ("error", "disk_limit"), "the disk is the session's", result["outcome"])
    close(session)


# ---- turns ---------------------------------------------------------------------------------------


def turns():
    session = opened()
    cell(session, "seen = []")
    for _ in range(10):
        cell(session, "seen.clear()")
        sent = [send(session, f"seen.append({n})\nprint(seen)" + (3 - n) * "#" * 20000) for n in range(4)]
        told = [client.receive(msgid)[1]["stdout"] for msgid in sent]
        if not eq(told, [f"{list(range(n + 1))}\n" for n in range(4)], "cells that come at once take turns, also when the first takes longest to read"):
            break
    sent = [send(session, code) for code in ("import time\ntime.sleep(0.5)", "print(", "print(7)")]
    eq([client.receive(msgid)[1]["outcome"] for msgid in sent], ["ok", "syntax_error", "ok"], "one that fails lets the next have its turn")
    first = send(session, "import time\ntime.sleep(30)", limits={"wall_ms": 60000})
    ok(wait_until(lambda: sessions(second)[session]["busy"]), "a cell runs")
    waiting = [send(session, f"print({n})") for n in range(3)]
    ok(wait_until(lambda: sessions(second)[session]["waiting"] == 3), "three wait")
    error, _ = answer("run", session=session, code="1")
    eq((error["code"], "too many cells of this session wait" in error["message"]), ("busy", True), "a fourth is refused")
    close(session, by=second)
    error, result = client.receive(first)
    eq((error, result["outcome"], result["session"]["state"], result["session"]["why"]), (None, "canceled", None, "closed"), "closing cancels the cell that runs")
    ends = [client.receive(msgid) for msgid in waiting]
    ok(all(refused(error) == ("not_found", "/session", "ended") or (result or {}).get("outcome") == "canceled" for error, result in ends),
       "and those that wait", ends)
    session = opened()
    running = client.call("run", session=session, code="import time\ntime.sleep(30)", limits={"wall_ms": 60000}, detach=True)["run_id"]
    ok(wait_until(lambda: sessions(second)[session]["busy"]), "a cell runs")
    waits = second.call("run", session=session, code="print('never')", detach=True)["run_id"]
    ok(wait_until(lambda: sessions(second)[session]["waiting"] == 1), "and one waits")
    second.call("cancel", run_id=waits)
    eq(second.call("wait", run_id=waits)["outcome"], "canceled", "a waiting cell can be cancelled")
    ok(session in sessions(second), "the session goes on")
    second.call("cancel", run_id=running)
    result = second.call("wait", run_id=running)
    eq((result["outcome"], result["session"]["state"], result["session"]["went_back"]), ("canceled", 0, 0), "when the first cell is cancelled, the session begins anew")
    eq(printed(session, "print('x' in globals(), __import__('os').listdir('/work'))"), "False []\n", "and the next cell has a fresh process")
    close(session)
    session = opened()
    cell(session, "x = 1")
    gone = connect(USER)
    gone.send("run", session=session, code="x = 2\nimport time\ntime.sleep(60)", limits={"wall_ms": 50000})
    ok(wait_until(lambda: sessions()[session]["busy"]), "a client runs a cell")
    gone.close()
    ok(wait_until(lambda: session not in sessions()), "when it leaves, its cell is cancelled and the session ends")
    detached = opened()
    run_id = client.call("run", session=detached, code="print('later')", detach=True)["run_id"]
    eq(client.call("wait", run_id=run_id)["stdout"], "later\n", "a cell may run detached")
    close(detached)


# ---- users ---------------------------------------------------------------------------------------


def users():
    stranger, admin = connect(OTHER), connect(ADMIN)
    session = opened()
    cell(session, "x = 1")
    error, _ = answer("run", by=stranger, session=session, code="print(x)")
    eq(refused(error), ("not_found", "/session", "ended"), "another user cannot use a session")
    eq(sessions(stranger), {}, "nor see it")
    eq(refused(answer("session.close", by=stranger, session=session)[0])[0], "not_found", "nor close it")
    eq(list(sessions(admin)), [session], "an administrator sees it")
    error, _ = answer("run", by=admin, session=session, code="print(x)")
    eq(refused(error), ("not_found", "/session", "ended"), "but cannot use it")
    eq(printed(session, "print(x)"), "1\n", "and it goes on")
    sent = send(session, "import time\ntime.sleep(60)", limits={"wall_ms": 50000})
    ok(wait_until(lambda: sessions(admin)[session]["busy"]), "a cell runs")
    close(session, by=admin)
    result = client.receive(sent)[1]
    eq((result["outcome"], result["session"]["why"]), ("canceled", "admin"), "an administrator closes it")
    acts = [act for act in connect(0).call("admin.acts")["acts"] if session in str(act)]
    eq([(act["method"], act["uid"]) for act in acts], [("session.close", ADMIN), ("session.end", USER), ("session.open", USER)],
       "an administrator who closes a session is named in the record")
    eq((acts[0]["pid"], "admin" in str(acts[0]["result"])), (os.getpid(), True), "with the process")
    mine = [opened() for _ in range(3)]
    error, _ = answer("session.open", language="python")
    eq((error["code"], "sessions_per_uid" in error["message"]), ("busy", True), "one user opens so many")
    hers = [opened(stranger) for _ in range(2)]
    error, _ = answer("session.open", by=stranger, language="python")
    eq((error["code"], "sessions_max" in error["message"]), ("busy", True), "and all together so many")
    error, first = answer("session.open", by=admin, language="python")
    if ok(error is None, "but who has none opens one beyond that", error):
        close(first["session"], by=admin)
    for session in mine:
        cell(session, "1")
    shown = [who for who in admin.call("admin.status")["users"] if who.get("uid") == USER] if "users" in admin.call("admin.status") else None
    if shown is not None:
        ok(shown, "the workers of sessions are counted for their user", shown)
    told = admin.call("admin.kill_all", reason="a drill")
    eq(told["sessions"], 5, "kill_all ends all sessions")
    error, _ = answer("session.open", language="python")
    eq(error["code"], "draining", "while it drains none is opened")
    admin.call("admin.resume")
    eq((sessions(), sessions(stranger)), ({}, {}), "none is left")
    ok(hers, "two of another user")
    close(opened(stranger), by=stranger)
    error, _ = answer("session.open", by=stranger, language="python")
    eq((error["code"], error["data"]["retry_after_ms"] > 0), ("busy", True), "a session counts as a run, and one that found no room does not")
    ok("the budget of uid 4004 is spent: 3 of 3 runs began within a minute" in error["message"], "which is said", error)
    admin.call("admin.reset_budget", uid=OTHER)
    session = opened(stranger)
    results = [answer("run", by=stranger, session=session, code="1") for _ in range(3)]
    eq([result["outcome"] for _, result in results], ["ok"] * 2 + ["budget_exceeded"], "budgets count cells, and that the session was opened")
    close(session, by=stranger)


# ---- the contract --------------------------------------------------------------------------------


def contract():
    error, _ = answer("run", language="python", code="1", **{"from": 1})
    eq(refused(error), ("bad_request", "/from", "conflict"), "only a cell begins in a kept state")
    session = opened(policy="observe")
    for key, value in (("policy", "observe"), ("agent", "a"), ("env", {"A": "b"}), ("secrets", ["abcdef"]), ("entrypoint", "x.py"),
                       ("deterministic", True), ("network", {"allow": ["api.test"]}), ("cache", "use"), ("trace", "files"), ("language", "bash")):
        error, _ = answer("run", session=session, code="1", **{key: value})
        eq(refused(error), ("bad_request", "/" + key, "conflict"), f"a cell with {key} is refused")
    for key in "memory_bytes", "disk_bytes", "inodes", "pids", "open_files", "file_bytes", "cpu_percent":
        error, _ = answer("run", session=session, code="1", limits={key: 100})
        eq(refused(error), ("bad_request", "/limits/" + key, "conflict"), f"and one with a limit on {key}")
    for params, pointer in (({"limits": {"wall_ms": -1}}, "/limits/wall_ms"), ({"surprise": 1}, "/surprise"), ({"limits": 5}, "/limits")):
        eq(refused(answer("run", session=session, code="1", **params)[0])[:2], ("bad_request", pointer), f"a cell with a wrong {pointer} is refused")
    eq(refused(answer("run", session=5, language="python", code="1")[0])[:2], ("bad_request", "/session"), "an id is a text")
    eq(cell(session, "1", task="t2", labels={"k": "v"})["outcome"], "ok", "task and labels are each cell's")
    one = cell(session, "n = globals().get('n', 0) + 1\nprint(n)", id="once")
    two = cell(session, "n = globals().get('n', 0) + 1\nprint(n)", id="once")
    eq((one["stdout"], two["stdout"]), ("1\n", "1\n"), "a repeat is told the record and runs nothing")
    eq(printed(session, "print(n)"), "1\n", "indeed")
    close(session)
    for params, pointer in (({"language": "pithon"}, "/language"), ({"policy": "nil"}, "/policy"), ({"env": {"A=B": "c"}}, "/env"),
                            ({"limits": {"wall_ms": -1}}, "/limits/wall_ms"), ({"limits": {"wall": 1}}, "/limits/wall"), ({"limits": {"open_files": 31}}, "/limits/open_files"), ({"idle_ms": 1}, "/idle_ms"),
                            ({"code": "1"}, "/code")):
        error, _ = answer("session.open", **{"language": "python", **params})
        ok(refused(error)[0] == "bad_request" and str(refused(error)[1]).startswith(pointer), f"session.open with a wrong {pointer} is refused", error)
    eq(refused(answer("session.open")[0])[0], "bad_request", "and one without a language")
    eq(sessions(), {}, "none of these opened anything")
    session = opened(idle_ms=1500)
    ok(wait_until(lambda: session not in sessions()), "a session ends when it is idle")
    eq(refused(answer("run", session=session, code="1")[0]), ("not_found", "/session", "ended"), "and a cell says so")


# ---- policies ------------------------------------------------------------------------------------


def policies():
    session = opened(policy="strict")
    eq(printed(session, "x = 1\nprint(x)"), "1\n", "a harmless cell runs under strict")
    denied = cell(session, "import ctypes")
    eq((denied["outcome"], denied["ran"]), ("policy_denied", "no"), "each cell is read")
    eq(printed(session, "print(x)"), "1\n", "and a denied one leaves the session as it was")
    eq(cell(session, "print(__import__('sys').version_info[0])")["outcome"] in ("ok", "policy_denied"), True, "indirect imports are judged too")
    caught = cell(session, "name = 'cty' + 'pes'\n")
    caught = cell(session, "import importlib\nimportlib.import_module(name)")
    eq(caught["outcome"], "policy_denied", "what a name holds from an earlier cell is caught in the worker")
    if caught["ran"] == "yes":
        eq((caught["session"]["state"], caught["session"]["why"]), (None, "killed"), "and ends the session")
    else:
        close(session)
    session = opened(policy="strict")
    for _ in range(3):
        cell(session, "1")
    late = cell(session, "f = [getattr(__builtins__, n, None) for n in ('ev' + 'al',)]\nf[0]('1')")
    eq(late["outcome"], "policy_denied", "the worker's rules hold in a later cell")
    if session in sessions():
        close(session)
    admin = connect(ADMIN)
    session = opened(policy="house")
    cell(session, "x = 1")
    code = "import ctypes\nprint(x)"
    for turn in (1, 2):
        sent = client.send("run", session=session, code=code)
        ok(wait_until(lambda: admin.call("approvals.list")["waiting"]), f"a cell waits for approval, time {turn}: a grant does not cover cells")
        waiting = admin.call("approvals.list")["waiting"][0]
        error, _ = answer("approvals.approve", by=admin, run_id=waiting["run_id"], reason="fine", **({"for": "code"} if turn == 2 else {}))
        if turn == 2:
            ok(True, f"for code: {error and error['code']}")
            if error:
                admin.call("approvals.approve", run_id=waiting["run_id"], reason="fine")
        result = client.receive(sent)[1]
        eq((result["outcome"], result["stdout"]), ("ok", "1\n"), "and runs when it is approved")
    sent = client.send("run", session=session, code=code)
    behind = client.send("run", session=session, code="x = 5")
    ok(wait_until(lambda: admin.call("approvals.list")["waiting"]), "and a third time, after a grant for its code")
    ok(wait_until(lambda: sessions(admin)[session]["waiting"] == 1), "a later cell waits for one that waits for approval")
    close(session, by=second)
    error, _ = client.receive(behind)
    eq(refused(error)[0], "not_found", "both end with the session")
    error, result = client.receive(sent)
    ok(result and result["outcome"] == "canceled", "a parked cell is cancelled when the session ends", (error, result))


# ---- the record ----------------------------------------------------------------------------------


def record(state):
    secret = "pl4ntedS3cretOfSession"
    session = opened(secrets=[secret], env={"KEY": secret}, task="masked")
    first = cell(session, "import os\nprint('first')")
    later = cell(session, "print(os.environ['KEY'])")
    eq(later["stdout"], secret + "\n", "the caller sees what the program printed")
    for result in first, later:
        row = client.call("runs.get", run_id=result["run_id"])
        ok(secret not in str(row), "but the record of each cell is masked", row)
    row = client.call("runs.get", run_id=later["run_id"])
    eq((row["result"]["session"]["id"] if "result" in row else row["session"]["id"]), session, "it names the session")
    denied = cell(session, "import ctypes(")
    page = client.call("runs.list", session=session)
    eq([(run["run_id"], run["session"], run["cell"]) for run in page["runs"]],
       [(denied["run_id"], session, 3), (later["run_id"], session, 2), (first["run_id"], session, 1)], "runs.list finds the cells of a session")
    plain = client.run("print(1)")
    listed = client.call("runs.list", limit=1)["runs"][0]
    eq((listed["run_id"], listed["session"], listed["cell"]), (plain["run_id"], None, None), "a plain run is of none")
    eq(client.call("stats", session=session)["runs"], 3, "and stats counts them")
    eq(row["request"]["session"], session, "the request names the session, too")
    error, _ = answer("runs.replay", run_id=first["run_id"])
    eq((error["code"], "cell of a session" in error["message"]), ("conflict", True), "a cell is not replayed alone")
    watcher = connect(USER)
    watcher.call("events.subscribe", kinds=["session"])
    client.notices.clear()
    close(session)
    eq([notice for notice in client.notices if notice[0] == "session.ended"], [["session.ended", [{"session": session, "cells": 3, "why": "closed"}]]],
       "who opened it is told when it ends")
    brief = connect(USER)
    other = brief.call("session.open", language="python", states=0)["session"]
    brief.close()
    eq(cell(other, "print(1)")["outcome"], "ok", "a session outlives the connection that opened it")
    eq(client.call("session.list")["sessions"][0]["session"], other, "and is listed")
    eq(connect(0).call("admin.status")["sessions"], 1, "status counts it")
    close(other)
    watcher.call("hello")
    told = [(event[1][0]["session"], event[1][0]["state"], event[1][0].get("why")) for event in watcher.notices]
    eq(told, [(session, "ended", "closed"), (other, "open", None), (other, "ended", "closed")], "subscribers are told of both ends")
    root = connect(0)
    ok(wait_until(lambda: [act["method"] for act in root.call("admin.acts")["acts"] if session in str(act)] == ["session.end", "session.open"]),
       "opening and ending are acts in the record")
    for name in os.listdir(state):
        if os.path.isfile(f"{state}/{name}"):
            with open(f"{state}/{name}", "rb") as file:
                ok(secret.encode() not in file.read(), f"{name} does not have the secret")


def leave():
    session = opened()
    cell(session, "x = 1")
    print(session)


def gone(session):
    eq(refused(answer("run", session=session, code="print(x)")[0]), ("not_found", "/session", "ended"), "no session outlives the daemon, and a cell says so")
    acts = [act["method"] for act in connect(0).call("admin.acts")["acts"] if session in str(act)]
    eq(acts, ["session.end", "session.open"], "its end is in the record")


def ends():
    session = opened()
    cell(session, "x = 1")
    ok(wait_until(lambda: session not in sessions()), "a session ends when it is old")
    session = opened()
    sent = send(session, "import time\ntime.sleep(5)", limits={"wall_ms": 50000})
    behind = send(session, "1")
    error, result = client.receive(sent)
    ok(result and result["outcome"] == "ok", "a cell that runs then goes on to its end", (error, result))
    eq((result["session"].get("state"), result["session"].get("why")), (None, "age"), "and is told that the session has ended with it")
    eq(refused(client.receive(behind)[0]), ("not_found", "/session", "ended"), "the cell behind it does not run")
    session = opened()
    sent = send(session, "import time\ntime.sleep(60)", limits={"wall_ms": 50000})
    ok(wait_until(lambda: sessions()[session]["busy"]), "a cell runs longer than its session may live")
    time.sleep(3.5)
    ok(session in sessions(), "a session that is too old is open until its cell is over")
    others = [opened() for _ in range(2)]
    error, _ = answer("session.open", language="python")
    eq((error and error["code"], "sessions_per_uid" in str(error)), ("busy", True), "and counts as one of its user until then")
    close(session)
    result = client.receive(sent)[1]
    eq((result["outcome"], result["session"]["why"]), ("canceled", "closed"), "it can be closed, which cancels the cell")
    ok(others and wait_until(lambda: not sessions()), "none is left")


second = connect(USER)
globals()[sys.argv[1]](*sys.argv[2:])
if sys.argv[1] != "leave":
    done()
