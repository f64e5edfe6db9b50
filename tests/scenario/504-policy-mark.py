import itertools
import os
import sys
import threading
import time

from wire import Client, daemon_pid, done, eq, ok

# The mark that a denied program would leave if it ran.
MARK = "the-mark-of-a-denied-program"
LEAVE = f"print('{MARK[:8]}' + '{MARK[8:]}')\n"
DENIED = {
    "an import": "import socket\n",
    "a call": "eval('1')\n",
    "a way to the host": "import os\nos.system('true')\n",
    "a dunder": "().__class__.__base__.__subclasses__()\n",
    "text in another encoding": "# coding: utf-7\n",
    "an encoding that Python reads in the second line": "#!/usr/bin/python3\n# -*- coding: raw_unicode_escape -*-\n",
    "a line that only Python ends": "# comment\rimport socket\n",
    "a NUL byte": "x = 1\0\n",
    "bytes that are no text": b"x = '\xff\xfe'\n",
    "a form feed before it": "\f\nimport socket\n",
    "letters that Python takes for others": "\uff45val('1')\n",
    "something that no grammar reads": "match x:\n  case (:\n    pass\nimport socket\n",
    "ten thousand brackets": "x = " + "[" * 10000 + "]" * 10000 + "\nimport socket\n",
}
ROOT = Client(timeout=60)
seen = []  # every run's id


def run(code, **params):
    return ROOT.run(code, policy="strict", **params)


def programs():
    for name, start in DENIED.items():
        leave = LEAVE.encode() if isinstance(start, bytes) else LEAVE
        # The mark first and last: a program with its denied part at the end would leave the mark if it ran at all.
        yield f"{name}, first", start + leave
        if not name.startswith(("text in", "an encoding")):
            yield f"{name}, last", leave + start


def holds_mark(value):
    if isinstance(value, dict):
        return any(holds_mark(item) for key, item in value.items() if key not in ("code", "findings", "request"))
    if isinstance(value, list):
        return any(map(holds_mark, value))
    return MARK.encode() in value if isinstance(value, bytes) else isinstance(value, str) and MARK in value


def by_run(code):
    return run(code, artifacts=["*"])


def by_stream(code):
    ROOT.notices.clear()
    result = run(code, stream=True)
    ok(not ROOT.notices, "and nothing of it was streamed", ROOT.notices[:1]) if ROOT.notices else None
    return result


def by_detached(code):
    answer = run(code, detach=True, artifacts=["*"])
    return ROOT.call("wait", run_id=answer["run_id"]) if "outcome" not in answer else answer


def by_json(code):
    return run(code, output="json", schema={"type": "object"})


def by_bytes(code):
    return run(code if isinstance(code, bytes) else code.encode(), artifacts=["*"])


def by_entrypoint(code):
    return run(code, entrypoint="__main__.py", artifacts=["*"])


def by_odd_entrypoint(code):
    return run(code, entrypoint="data.txt", artifacts=["*"])


def by_repeat(code):
    run(code, id="the-same")
    return run(code, id="the-same", artifacts=["*"])


doors = [by_run, by_stream, by_detached, by_json, by_bytes, by_entrypoint, by_odd_entrypoint, by_repeat]
eq(run(LEAVE, artifacts=["*"])["stdout"], MARK + "\n", "a program that is allowed leaves its mark")
for door in doors:
    wrong = []
    for name, code in programs():
        result = door(code)
        seen.append(result["run_id"])
        if result["outcome"] != "policy_denied" or result["ran"] != "no" or holds_mark(result):
            wrong.append((name, result["outcome"], result["ran"], result.get("reason")))
    ok(not wrong, f"{door.__name__.replace('_', ' ')}: every denied program is denied and leaves no mark", wrong)

wrong = [name for name, code in programs()
         if ROOT.call("check", language="python", code=code, policy="strict")["would"] != "deny"]
ok(not wrong, "check says the same of each", wrong)

# The record of each: denied, and without the mark.
wrong = [run_id for run_id in seen
         if (lambda record: record["outcome"] != "policy_denied" or holds_mark(record))(
             ROOT.call("runs.get", run_id=run_id))]
ok(not wrong, f"nor do the records of these {len(seen)} runs hold it", wrong[:3])

# From many connections at once, each program new: no verdict is cached yet.
wrong = []
count = itertools.count()


def hurry(number):
    client = Client(timeout=60)
    for round_number in range(15):
        asked = []
        for name, code in programs():
            fresh = f"# {number}.{round_number}.{name}\n"
            if isinstance(code, bytes):
                code = fresh.encode() + code
            elif "coding" not in code and "\0" not in code and len(code) < 1000:
                code = fresh + code
            asked.append((name, client.send("run", language="python", code=code, policy="strict", artifacts=["*"])))
        for name, msgid in asked:
            error, result = client.receive(msgid)
            next(count)
            if error is None and (result["outcome"] != "policy_denied" or holds_mark(result)):
                wrong.append((name, result["outcome"]))


threads = [threading.Thread(target=hurry, args=(number,), daemon=True) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(120)
ok(not wrong, f"nor any of {next(count)} in a hurry", wrong[:3])

# The policy does not read files beside the program, whatever their names.
BESIDE = "import socket\n" + LEAVE
ways = {
    "imported": ("import beside", "beside.py"),
    "imported by its package": ("import package.beside", "package/beside.py"),
    "in the place of a module that may be imported": ("import graphlib", "graphlib.py"),
    "in the place of another": ("import colorsys", "colorsys.py"),
    "in the place of a package": ("import zoneinfo", "zoneinfo/__init__.py"),
    "in the place of what a module imports": ("import csv\nimport uuid\nimport calendar", "locale.py"),
    "in the place of what the runtime imports": ("import json", "encodings.py"),
    "as sitecustomize": ("print('nothing')", "sitecustomize.py"),
    "as usercustomize": ("print('nothing')", "usercustomize.py"),
    "as the name that it does not have": ("print('nothing')", "__main__.py"),
}
wrong = []
for name, (code, path) in ways.items():
    result = run(code, files=[{"path": path, "data": BESIDE}])
    if holds_mark(result):
        wrong.append((name, result["outcome"], result["stdout"]))
ok(not wrong, "a file beside the program that is denied by itself leaves no mark either", wrong)
result = run("import graphlib", files=[{"path": "graphlib.py", "data": BESIDE}])
eq((result["outcome"], result["policy"]["findings"][0]["line"]), ("policy_denied", 1), "it is denied as the program would be")
ok("graphlib.py" in result["reason"], "and the reason names it", result["reason"])
result = run("import graphlib", files=[{"path": "graphlib.pyc", "data": b"\x00"}])
eq(result["policy"]["findings"][0]["rule"], "policy.bytecode", "bytecode is denied, since nobody can read it")
result = run("import graphlib\ngraphlib.leave()", files=[{"path": "graphlib.py", "data": f"def leave():\n    {LEAVE}"}]
             + [{"path": f"d{i}/m{i}.py", "data": f"x = {i}\n"} for i in range(100)]
             + [{"path": f"d{i}/data.txt", "data": BESIDE} for i in range(20)])
eq((result["outcome"], result["stdout"]), ("ok", MARK + "\n"), "files that do no harm are let through, and data is data")
if os.path.exists("/usr/bin/bash"):
    left = f"echo {MARK[:8]}''{MARK[8:]}"
    wrong = []
    for env in ({"BASH_ENV": "/work/data.txt"}, {"SHELLOPTS": "xtrace", "PS4": f"$({left} >&2)"}, {"PS4": f"$({left} >&2)"}):
        result = ROOT.call("run", language="bash", code="echo 1\n", policy="strict", env=env, files=[{"path": "data.txt", "data": left + "\n"}])
        found = [finding["text"] for finding in result["policy"]["findings"] if finding["rule"] == "policy.environment"]
        if holds_mark(result) or result["outcome"] != "policy_denied" or sorted(found) != sorted(env):
            wrong.append((env, result["outcome"], result["stdout"], result["stderr"]))
    ok(not wrong, "nor does what the environment makes a shell run", wrong)
    result = ROOT.call("run", language="bash", code="echo \"$NAME\"\n", policy="strict", env={"NAME": "BASH_ENV", "PATHS": "x"})
    eq((result["outcome"], result["stdout"]), ("ok", "BASH_ENV\n"), "and other variables are data")
    eq(ROOT.run("print(1)", policy="strict", env={"BASH_ENV": "x"})["outcome"], "ok", "which for Python it is, too")
done()
