import contextlib
import itertools
import os
import signal
import socket
import sys
import time

from wire import Client, children, command, done, eq, mark, marked, ok, wait_until

spawner = int(sys.argv[1])
client = Client(timeout=60)
numbers = itertools.count(1)


PAUSE = 0.1  # seconds after a worker that was given up, in which none compiles ahead


def python():
    return next(row for row in client.call("runtimes")["runtimes"] if row["name"] == "python")


def spare():
    """Whether two workers are ready, so that one may compile ahead."""
    return python()["warm"] >= 2


def at_rest():
    """Whether nothing runs and no worker is being made."""
    return not client.call("admin.status")["in_progress"] and all(
        row["warm"] >= row["wanted"] for row in client.call("runtimes")["runtimes"])


def unseen(code):
    """The program with another comment, so that its verdict is not known."""
    return code + f"# {next(numbers)}\n"


def run(code, **params):
    wait_until(spare)
    result = client.call("run", **{"language": "python", "code": code, **params})
    if "worker.dropped" in steps(result):
        time.sleep(PAUSE + 0.05)
    return result


def steps(result):
    return [step["step"] for step in result["trace"]]


def essence(result):
    """What the caller gets of the program."""
    return {key: result.get(key) for key in ("outcome", "exit_code", "stdout", "stderr", "error", "ran", "value")}


# ---- programs that may run -----------------------------------------------------------------------------------

result = run(unseen("print(6 * 7)\n"))
eq(result["stdout"], "42\n", "a program that was compiled ahead runs")
order = [step for step in steps(result) if step in ("worker.compiles", "policy.verdict", "worker.taken")]
eq(order, ["worker.compiles", "policy.verdict", "worker.taken"], "its trace says so, and in which order")

SAME = {
    "prints": ("print('text', 1)\n", {}),
    "is empty": ("\n", {}),
    "fails to compile": ("def f(:\n    pass\n", {}),
    "has an odd indentation": ("if True:\n  x = 1\n    y = 2\n", {}),
    "makes the compiler warn": ("print(1 is 1)\nassert (1, 'always')\n", {}),
    "makes it warn thousands of times": ("x = 1\n" + "x is 1\n" * 5000, {"limits": {"stderr_bytes": 1 << 21}}),
    "makes it warn beyond the limit": ("x = 1\n" + "x is 1\n" * 5000, {"limits": {"stderr_bytes": 1024}}),
    "has too many brackets": ("x = " + "(" * 5000 + ")" * 5000 + "\n", {}),
    "is nested deeply": ("x = " + "-" * 900 + "1\n", {}),
    "reads its input": ("print(len(input()))\n", {"input": "hello"}),
    "has arguments": ("import sys\nprint(sys.argv[1:])\n", {"args": ["a", "b"]}),
    "exits": ("raise SystemExit(3)\n", {}),
    "raises": ("print('before')\n1 / 0\n", {}),
    "is killed for its time": ("while True: pass\n", {"limits": {"wall_ms": 300}}),
    "is in another encoding": ("# coding: latin-1\nprint('x')\n", {}),
    "names an encoding that is none": ("# coding: nothing-like-this\nprint('x')\n", {}),
}
for name, (code, params) in SAME.items():
    first = unseen(code)
    ahead = run(first, **params)
    again = run(first, **params)
    ok("worker.compiles" in steps(ahead) and "worker.compiles" not in steps(again), f"ahead the first time: {name}",
       [steps(ahead), steps(again)])
    eq(essence(ahead), essence(again), f"the same, ahead and after the verdict: {name}")

# ---- programs that may not -----------------------------------------------------------------------------------

DENIED = {
    "does nothing else": "import socket\n",
    "prints first": "print('it ran')\nimport socket\n",
    "warns": "1 is 1\nimport socket\n",
    "does not compile": "import socket\ndef f(:\n",
    "is large": "import socket\n" + "x = [1, 2, 3]\n" * 10000,
}
counted = python()["runs"]
for name, code in DENIED.items():
    result = run(unseen(code), policy="strict")
    eq((result["outcome"], result["ran"]), ("policy_denied", "no"), f"denied: {name}")
    eq((result.get("stdout") or "", result.get("stderr") or ""), ("", ""), f"nothing of it is told: {name}")
    ok("worker.dropped" in steps(result) and "worker.taken" not in steps(result), f"its worker is given up: {name}",
       steps(result))

wait_until(at_rest)
began = time.monotonic()
results = [client.call("run", language="python", code=unseen("import socket\n"), policy="strict") for _ in range(40)]
most = (time.monotonic() - began) / PAUSE + 1
ok(1 <= sum("worker.compiles" in steps(result) for result in results) <= most, "who sends many of them wastes few workers",
   [most, list(map(steps, results))])
eq(python()["runs"], counted, "none of them counts as a run")
time.sleep(PAUSE + 0.05)

# ---- while nobody has judged it ----------------------------------------------------------------------------------


@contextlib.contextmanager
def no_verdict():
    """Inspectors are stopped."""
    stopped = [pid for pid in children(spawner) if "inspector" in command(pid)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):  # silent for too long, it was replaced
                os.kill(pid, signal.SIGCONT)


# What the compiler imports for them: for a warning, for a codec, for a name.
IMPORTING = {
    "main.py": "1 is 1\n",
    "linecache.py": "1 is 1\n",
    "warnings.py": "1 is 1\n",
    "re.py": "# coding: idna\n",
    "stringprep.py": "# coding: idna\n",
    "quopri.py": "# coding: quopri\n",
    "unicodedata.py": "# coding: utf-8\nname\u00e9 = 1\n",
}
for name, first in IMPORTING.items():
    wait_until(spare)
    leaver = Client()
    with no_verdict():
        leaver.send("run", language="python", entrypoint=name,
                    code=unseen(first + mark(signal.SIGUSR2) + "import time\ntime.sleep(60)\n"))
        time.sleep(0.3)
        eq(marked(spawner, signal.SIGUSR2), [], f"while it is judged nothing of it runs: {name}")
    if name == "main.py":
        ok(wait_until(lambda: marked(spawner, signal.SIGUSR2)), "it runs when it has been judged")
    leaver.close()
    ok(wait_until(lambda: not marked(spawner, signal.SIGUSR2)), f"and it ends with its client: {name}")

# ---- programs that wait for an inspector -------------------------------------------------------------------------


def inspectors_are(number, of):
    return client.call("admin.status")["inspectors"][of] == number


inspectors = 2
wait_until(at_rest)
ok(wait_until(lambda: inspectors_are(inspectors, "ready")), "there are two inspectors")
ok(python()["warm"] > inspectors + 1, "and more workers than those and one", python())
crowd = Client()
with no_verdict():
    waiting = [crowd.send("run", language="python", code=unseen("print(1)\n")) for _ in range(12)]
    ok(wait_until(lambda: inspectors_are(12 - inspectors, "waiting")), "ten programs wait for one")
    ok(python()["running"] <= inspectors, "programs that wait for an inspector hold no worker", python())
results = [crowd.receive(msgid) for msgid in waiting]
eq({result and result["stdout"] for error, result in results}, {"1\n"}, "and all of them run")
ok(sum("worker.compiles" in steps(result) for error, result in results) <= inspectors, "few were compiled ahead")

# ---- who must not be compiled ahead --------------------------------------------------------------------------

for name, params in {
    "has files": {"files": [{"path": "warnings.py", "data": "print('in the compiler')\n"}]},
    "is deterministic": {"deterministic": True},
    "is of another language": {"language": "bash"},
    "may be taken for a module": {"entrypoint": "linecache.py"},
}.items():
    result = run(unseen("\n"), **params)
    eq((result["outcome"], "worker.compiles" in steps(result)), ("ok", False), f"not ahead: a program that {name}")

# ---- clients that leave --------------------------------------------------------------------------------------

wait_until(at_rest)
before = len(children(spawner))
for _ in range(40):
    leaver = Client()
    leaver.send("run", code=unseen("import time\ntime.sleep(60)\n"), language="python")
    leaver.sock.shutdown(socket.SHUT_RDWR)
    leaver.close()
eq(run(unseen("print(1)\n"))["stdout"], "1\n", "runs go on after forty clients that left during the check")
ok(wait_until(at_rest), "nothing of theirs goes on")
ok(wait_until(lambda: len(children(spawner)) == before), "as many processes as before",
   [before, sorted(map(command, children(spawner)))])
done()
