import itertools
import socket
import sys

from wire import Client, children, done, eq, ok, wait_until

spawner = int(sys.argv[1])
client = Client(timeout=60)
numbers = itertools.count(1)


def spare():
    """Whether two workers are ready, so that one may compile ahead."""
    python = next(row for row in client.call("runtimes")["runtimes"] if row["name"] == "python")
    return python["warm"] >= 2


def unseen(code):
    """The program with another comment, so that its verdict is not known."""
    return code + f"# {next(numbers)}\n"


def run(code, **params):
    wait_until(spare, 60)
    return client.call("run", **{"language": "python", "code": code, **params})


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
for name, code in DENIED.items():
    result = run(unseen(code), policy="strict")
    eq((result["outcome"], result["ran"]), ("policy_denied", "no"), f"denied: {name}")
    eq((result.get("stdout") or "", result.get("stderr") or ""), ("", ""), f"nothing of it is told: {name}")
    ok("worker.dropped" in steps(result) and "worker.taken" not in steps(result), f"its worker is given up: {name}",
       steps(result))

# ---- who must not be compiled ahead --------------------------------------------------------------------------

for name, params in {
    "has files": {"files": [{"path": "warnings.py", "data": "print('in the compiler')\n"}]},
    "is deterministic": {"deterministic": True},
    "is of another language": {"language": "bash"},
}.items():
    result = run(unseen("\n"), **params)
    eq((result["outcome"], "worker.compiles" in steps(result)), ("ok", False), f"not ahead: a program that {name}")

# ---- clients that leave --------------------------------------------------------------------------------------

wait_until(spare, 60)
before = len(children(spawner))
for _ in range(40):
    leaver = Client()
    leaver.send("run", code=unseen("import time\ntime.sleep(60)\n"), language="python")
    leaver.sock.shutdown(socket.SHUT_RDWR)
    leaver.close()
eq(run(unseen("print(1)\n"))["stdout"], "1\n", "runs go on after forty clients that left during the check")
ok(wait_until(lambda: spare() and not client.call("admin.status")["in_progress"], 60), "nothing of theirs goes on")
eq(len(children(spawner)), before, "as many processes as before")
done()
