"""Attacks that no other scenario has: bombs in each language, texts made to break a harness, a kill from outside,
a client that leaves, and programs that get past the policy but not out of the jail."""

import json
import os
import signal
import sys
import threading
import time

from wire import Client, children, command, done, eq, lives, mark, marked, ok, wait_until

spawner = int(sys.argv[1])
client = Client()
MIB = 1 << 20


def run(language, code, **params):
    return client.call("run", language=language, code=code, policy="observe", **params)


def named(signal):
    """Living processes of the programs with this mark."""
    return [pid for pid in marked(spawner, signal) if lives(pid)]


VICTIM, LEAVER = 41, 42  # real-time signals, as marks

# ---- bombs -------------------------------------------------------------------------------------

BOMBS = {
    "python": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "python-mp": "import os\nwhile True: os.fork()",
    "javascript": "const { Worker } = require('worker_threads');\n"
                  "for (;;) { try { new Worker('setInterval(() => {}, 1e6)', { eval: true }).on('error', () => process.exit(9)); }"
                  " catch { process.exit(9); } }",
    "bash": "bomb() { bomb | bomb & }; bomb; sleep 60",
}
here = {runtime["name"] for runtime in client.call("runtimes")["runtimes"]}
ok({"python", "bash"} <= here, "the languages that every host has are here", here)
before = len(children(spawner))
for language in sorted(BOMBS.keys() & here):
    result = run(language, BOMBS[language], limits={"pids": 24, "wall_ms": 3000, "cpu_ms": 2000, "memory_bytes": 256 * MIB})
    # An rlimit refuses as a cgroup does but does not count its refusals; a slow machine reaches another limit first.
    counted = result["limits"]["enforced_by"]["pids"] != "rlimit"
    ok(result["outcome"] in ("pids_limit", "cpu_limit", "wall_limit", "memory_limit") or "temporarily unavailable" in result["stderr"] or
       (not counted and not result["ok"]), f"a bomb of {language} goes off in its jail, and is told", result)
    eq(run(language, "print(1)" if "python" in language else "console.log(1)" if language == "javascript" else "echo 1")["stdout"], "1\n",
       f"the next run of {language} is as ever")
ok(wait_until(lambda: len(children(spawner)) <= before + 8), "and the host has the processes that it had",
   [before, len(children(spawner))])

# ---- texts -------------------------------------------------------------------------------------

QUOTES = "'''" + '"""' + "\\"
literal = run("python", f"x = {'y' * 200000!r}\nprint(len(x))\n1/0\n")
eq((literal["outcome"], literal["error"]["line"], literal["stdout"]), ("exception", 3, "200000\n"), "a literal of 200 KB shifts no line")
error, _ = client.receive(client.send("run", language="python", code="y" * 5 * MIB))
eq((error["data"]["pointer"], error["data"]["reason"]), ("/code", "too_long"), "a program of 5 MiB is refused by name")
for text, name in {QUOTES: "quotes of three", "__EXIT_CODE__:0\n": "another's marker", "\x01\x44\x45\x43": "our own magic",
                   "\r\n.\r\n": "an end of mail", "%s %n {0} ${x} $(id) `id`": "marks of every formatter"}.items():
    result = run("python", f"print({text!r}, end='')\n1/0")
    eq((result["stdout"], result["outcome"], result["error"]["line"]), (text, "exception", 2), f"a program made of {name} is a program")
    if "javascript" in here:
        result = run("javascript", f"process.stdout.write({json.dumps(text)});\nthrow new Error('x')")
        eq((result["stdout"], result["outcome"], result["error"]["line"]), (text, "exception", 2), f"in javascript too: {name}")
eq(run("python", "x = 1\0\nimport os")["ran"], "no", "nothing runs of a program with a NUL in it")
eq(client.run("x = 1\0\nimport os", policy="standard")["outcome"], "policy_denied", "and a policy that denies anything denies it")
eq(run("python", "print(__name__, [n for n in dir() if not n.startswith('__')], len(__import__('sys').argv))")["stdout"],
   "__main__ [] 1\n", "a program finds no name of the harness's in its own")
eq(run("python", "import code\nprint(hasattr(code, 'InteractiveConsole'))", entrypoint="code.py")["stdout"].splitlines()[-1], "False",
   "one called code.py shadows the library's, as it does outside")

# ---- from outside ------------------------------------------------------------------------------


def beside(language, code):
    told = {}

    def go():
        told.update(Client().call("run", language=language, code=code, policy="observe", limits={"wall_ms": 30000}))

    thread = threading.Thread(target=go)
    thread.start()
    return thread, told


thread, told = beside("python", mark(VICTIM) + "import time; print('here', flush=True); time.sleep(20)")
ok(wait_until(lambda: named(VICTIM)), "a program runs")
time.sleep(0.2)
for pid in named(VICTIM):
    os.kill(pid, signal.SIGKILL)
thread.join()
eq((told["outcome"], told["signal"], told["stdout"]), ("signal", "SIGKILL", "here\n"), "a worker killed from outside is told as that, with its output")
eq((client.call("runs.get", run_id=told["run_id"])["outcome"], run("python", "print(2)")["stdout"]), ("signal", "2\n"),
   "recorded as that, and its place is filled again")

leaver = Client()
leaver.send("run", language="python", code=mark(LEAVER) + "import time; time.sleep(30)", policy="observe")
ok(wait_until(lambda: named(LEAVER)), "another runs")
began = time.monotonic()
leaver.close()
while named(LEAVER) and time.monotonic() < began + 20:
    time.sleep(0.005)
took = time.monotonic() - began
ok(took < 15, "and is dead long before its end when its client leaves", f"{1000 * took:.0f} ms")
print(f"# a client left and nothing was left of its run after {1000 * took:.0f} ms")

# ---- the policy is advice ----------------------------------------------------------------------

# Each reaches os.system or the like without its name in the text; under a policy that only observes they run.
ROADS = {
    "a module's own import": "import random\nos = random._os",
    "statistics": "import statistics\nos = statistics.sys.modules['os']",
    "globals": "os = globals()['__builtins__'].__import__('os')",
    "a frame": "try: 1/0\nexcept ZeroDivisionError as e: os = e.__traceback__.tb_frame.f_builtins['__import__']('os')",
    "attrgetter": "import operator, random\nos = operator.attrgetter('_os')(random)",
    "a format string": "import random\nclass Keep(dict): pass\nimport string\n"
                       "os = string.Formatter().get_field('0._os', (random,), {})[0]",
    "characters": "os = getattr(__builtins__, chr(95) * 2 + 'import' + chr(95) * 2)('os')",
    "annotations": "import typing\ndef f(x: '__import__(\"os\")'): pass\n"
                   "try: typing.get_type_hints(f)\nexcept TypeError: pass\nimport sys\nos = sys.modules['os']",
    "update_wrapper": "import functools, random\nclass O: pass\nos = functools.update_wrapper(O(), random, assigned=('_os',), updated=())._os",
    "subclasses": "os = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__['sys'].modules['os']",
    "a finalizer": "import os as o\nclass D:\n  def __del__(self): global os; os = o\nD()",
    "ctypes": "import ctypes, os",
}
HARM = """
tried = []
for name, act in {"a program": lambda: os.execv("/bin/sh", ["sh"]), "a child": lambda: os.fork(), "the host": lambda: open("/etc/shadow"),
                  "a neighbour": lambda: os.kill(3, 9), "the root": lambda: os.chroot("/work"), "a device": lambda: os.mknod("d", 0o20600, 259)}.items():
    try:
        act()
        tried.append(name)
    except (OSError, AttributeError, PermissionError): pass
print(tried)
"""
for name, road in ROADS.items():
    result = run("python", road + HARM)
    ok(result["outcome"] == "syscall_denied" or (result["outcome"], result["stdout"]) == ("ok", "[]\n"),
       f"past the policy by {name}, and the jail holds", [result["outcome"], result["stdout"], result["stderr"]])
strict = [client.call("check", language="python", code=road, policy="strict")["would"] for road in ROADS.values()]
print(f"# of these {len(ROADS)} roads the strict policy denies {strict.count('deny')}")
done()
