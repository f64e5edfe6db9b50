"""The corpus of the policy, run under policies with one half switched off.

Under strict-run, rules that a worker can enforce are not applied to the text: the worker's enforcement must be
enough.  Under strict-text the worker enforces nothing.
"""

import os
import re
import sys

from wire import Client, done, eq, ok

client = Client()
folder, wanted = sys.argv[1], sys.argv[2:]
AT_ONCE = 8


class Case:
    def __init__(self, name):
        with open(f"{folder}/{name}", "rb") as file:
            head, self.code, hoped = re.split(rb"(?m)^---\n", file.read())[:3]
        settings = dict(line.split(": ") for line in head.decode().splitlines() if ": " in line)
        self.name = name.removesuffix(".case")
        self.language = settings.get("language", "python")
        self.policy = settings.get("policy", "strict")
        self.denied = hoped.startswith(b"deny")
        self.rules = {line.split()[0] for line in hoped.decode().splitlines()[1:]}
        if settings.get("bytes") == "escaped":
            self.code = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), self.code)


def run(case, policy):
    return client.send("run", language=case.language, code=case.code, policy=policy, stdin="[1, 2]\n",
                       limits={"wall_ms": 20000})


def results_of(cases, policy):
    for at in range(0, len(cases), AT_ONCE):
        some = cases[at : at + AT_ONCE]
        for case, msgid in zip(some, [run(case, policy) for case in some]):
            error, result = client.receive(msgid)
            yield case, {"outcome": str(error), "ran": "", "policy": {}} if error else result


# ---- the corpus ------------------------------------------------------------------------------------

# Rules that a worker may enforce alone (daemon/policy/policy_compile.c).
WORKER = {"python.import.dangerous", "python.import.denied", "python.call.denied", "python.name.denied"}

cases = [Case(name) for name in sorted(os.listdir(folder)) if name.endswith(".case") and (not wanted or name[:-5] in wanted)]
cases = [case for case in cases if case.policy == "strict"]

# Programs that are denied for text that they never execute.
IDLE = {
    f"evasion-{name}"
    for names in (
        # It is in a function that is never called.
        "class-skips-a-statement class-skips-the-function class-skips-the-function-augmented comprehension-pair-is-not-local"
        " comprehension-tuple-is-not-local eval-await eval-bound-in-class eval-default eval-default-of-parameter eval-global"
        " eval-lambda-default eval-return",
        # The name is mentioned, but its function is not called.
        "eval-in-assert eval-in-dict eval-in-tuple eval-in-type-alias-bound eval-star-args grammar-joins-lines"
        " grammar-joins-lines-call grammar-joins-lines-chained",
        # The name means something harmless at the time of the call.
        "imported-name-maybe",
    )
    for name in names.split()
}


def try_worker():
    """A program that breaks only rules enforced in the worker is caught there."""
    evasions = [case for case in cases if case.language == "python" and case.denied and case.rules <= WORKER]
    through, strange, caught = [], [], 0
    for case, result in results_of(evasions, "strict-run"):
        if result["outcome"] == "policy_denied":
            finding = result["policy"]["findings"][-1]
            caught += result["ran"] == "yes"
            if not (finding["severity"] == "deny" and finding["message"] and (result["ran"] == "no" or finding["rule"] in WORKER)):
                strange.append((case.name, result["ran"], finding))
        elif result["outcome"] not in ("syntax_error", "exception") and case.name not in IDLE:
            through.append((case.name, result["outcome"], result.get("reason")))
    ok(len(evasions) >= (0 if wanted else 80) and not through, f"none of {len(evasions)} evasions gets past the worker alone", through)
    ok(caught >= (0 if wanted else 40) and not strange, f"each of {caught} that are caught says by which rule", strange)


def try_innocents():
    innocents = [case for case in cases if case.language == "python" and not case.denied]
    accused = [(case.name, result["outcome"], result["reason"]) for case, result in results_of(innocents, "strict-run")
               if result["outcome"] == "policy_denied"]
    ok(len(innocents) >= (0 if wanted else 100) and not accused, f"the worker accuses none of {len(innocents)} innocents", accused)


def try_text(language, policies, least_evasions):
    """A program that breaks a rule that no worker may enforce alone is denied for its text, whatever `at` says."""
    evasions = [case for case in cases if case.language == language and case.denied]
    for policy in policies:
        if policy == "strict-run":
            evasions = [case for case in evasions if not case.rules <= WORKER]
        through = [(case.name, result["outcome"]) for case, result in results_of(evasions, policy)
                   if result["outcome"] != "policy_denied" or result["ran"] != "no"]
        ok(len(evasions) >= (0 if wanted else least_evasions) and not through,
           f"none of {len(evasions)} evasions in {language} gets past the text under {policy}", through)


has_node = any(runtime["name"] == "javascript" for runtime in client.call("runtimes")["runtimes"])
try_worker()
try_innocents()
try_text("python", ["strict-text", "strict-run"], 60)
if has_node:
    try_text("javascript", ["strict-text", "strict-run"], 100)
else:
    ok(True, "none of the evasions in javascript gets past the text # SKIP this host has no node")

# ---- evasions that the text does not show -----------------------------------------------------------

# `roads-run` denies one thing, and only at run time: the import of modules that reach the network.
ROADS = {
    "an import that is spelt out": "import socket",
    "an import by a function": "__import__('so' + 'cket')",
    "by importlib": "import importlib\nimportlib.import_module('so' + 'cket')",
    "in a text that is run": "exec('imp' + 'ort soc' + 'ket')",
    "in a text that is compiled first": "code = compile('import socket', '<x>', 'exec')\nexec(code)",
    "in bytes": "import marshal\ncode = compile('import socket', 'x', 'exec')\nexec(marshal.loads(marshal.dumps(code)))",
    "in a function made by hand": "import types\ncode = compile('import socket', 'x', 'exec')\ntypes.FunctionType(code, globals())()",
    "in code that is put together": "def f():\n    import json\nf.__code__ = f.__code__.replace(co_names=('socket',))\nf()",
    "in code that poses as the library's": "exec(compile('import socket', '/usr/lib/python3/x.py', 'exec'))",
    "in a thread": "import threading\nt = threading.Thread(target=lambda: __import__('socket'))\nt.start()\nt.join()",
    "at the end": "import atexit\natexit.register(lambda: __import__('socket'))",
    "in a finaliser": "class A:\n    def __del__(self): __import__('socket')\na = A()",
    "in a module of its own": "import lib",
    "through the library": "import timeit\ntimeit.timeit('import socket', number=1)",
    "of a name that is folded": "import ｓocket",
    "behind hooks of its own": "import sys\nsys.addaudithook(lambda *a: None)\nsys.meta_path.clear()\n__import__('socket')",
    "with the builtins gone": "import builtins\nreal = builtins.__import__\nbuiltins.__dict__.clear()\nreal('socket')",
    "a name of it": "from socket import socket",
    "in a thread of nothing else":
        "import sys, time, _thread\n_thread.start_new_thread(__import__, ('so' + 'cket',))\nwhile 'socket' not in sys.modules: time.sleep(0.01)",
    "handed to a thread": "import threading\nt = threading.Thread(target=__import__, args=('so' + 'cket',))\nt.start()\nt.join()",
    "handed to a stack of calls": "import contextlib\nwith contextlib.ExitStack() as s: s.callback(__import__, 'so' + 'cket')",
    "handed to the end": "import atexit\natexit.register(__import__, 'so' + 'cket')",
    "handed to the importer": "import importlib._bootstrap as b\nb._call_with_frames_removed(__import__, 'so' + 'cket')",
    "of a name that is too long": "import sys\ntry: __import__('socket.' + 'x' * 600)\nexcept ImportError: pass\nsys.modules['socket']",
    "of a name that is no text": "import sys\ntry: __import__('socket.' + chr(0xd800))\nexcept (ImportError, UnicodeError): pass\nsys.modules['socket']",
    "of a name that is equal to all": "class S(str):\n    __hash__ = lambda self: 1\n    __eq__ = lambda *a: True\n__import__(S('asyncio.subprocess'))",
    "of a name that is equal to all, handed over": "import contextlib\nclass S(str):\n    __hash__ = str.__hash__\n    __eq__ = lambda *a: True\n"
        "with contextlib.ExitStack() as s: s.callback(__import__, S('asyncio.subprocess'))",
    "by who looks up what is named": "import pkgutil\npkgutil.resolve_name('so' + 'cket:socket')",
    "by the machinery of imports": "import sys\nfor finder in sys.meta_path:\n    spec = finder.find_spec('so' + 'cket', None)\n"
        "    if spec: spec.loader.load_module('so' + 'cket')",
    "by its inner function": "import importlib._bootstrap as b\nb._gcd_import('so' + 'cket')",
    "of what is built in": "import sys\n__import__('_frozen_importlib').BuiltinImporter.load_module('_so' + 'cket')",
    "by a loader of its own": "import os\ntype(__loader__)('x', os.__file__.replace('os.py', 'so' + 'cket.py')).load_module('x')",
    "in code that poses by another file's name": "import os\ndef f(n): return __import__(n)\n"
        "f.__code__ = f.__code__.replace(co_filename=os.__file__)\nf('so' + 'cket')",
    "in code that poses by its bytes": "import os, marshal\nfile = 'x' * len(os.__file__)\n"
        "code = compile('def f(n): return __import__(n)', file, 'exec')\n"
        "exec(marshal.loads(marshal.dumps(code).replace(file.encode(), os.__file__.encode())))\nf('so' + 'cket')",
    "in code that poses in its place": "import os, _imp\ndef f(n): return __import__(n)\n"
        "_imp._fix_co_filename(f.__code__, os.__file__)\nf('so' + 'cket')",
    "a connection that somebody else makes": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1/')",
}
FILES = [{"path": "lib.py", "data": "def f():\n    import socket\nf()\n"}]
for name, code in ROADS.items():
    result = client.call("run", language="python", policy="roads-run", code=code + "\nprint('done')\n", files=FILES)
    rules = [finding["rule"] for finding in result["policy"]["findings"]]
    hoped = [] if "poses" in name else ["python.import.dangerous"]  # no rule of this policy covers it
    eq((result["outcome"], rules[-1:] if hoped else [], result["stdout"]), ("policy_denied", hoped, "done\n" if "finaliser" in name or "the end" in name else ""), name)

code = "import sys\nprint('begun', flush=True)\n\nexec('''\n\nimport socket''')\n"
result = client.call("run", language="python", policy="roads-run", code=code)
eq((result["outcome"], result["ran"], result["stdout"]), ("policy_denied", "yes", "begun\n"), "what ran before it was caught is told")
finding = result["policy"]["findings"][-1]
eq((finding["rule"], finding["line"], finding["text"], "<string>" in finding["message"]), ("python.import.dangerous", 3, "socket", True),
   "with the place, and the file where it is another")
ok(finding["hint"] and "while it ran" not in result["reason"] and "line 3" in result["reason"], "and what to do", result["reason"])
ok(any(step["step"] == "policy.caught" for step in result["trace"]), "in the trace", result["trace"])
eq(client.call("runs.get", run_id=result["run_id"])["outcome"], "policy_denied", "and in the record")
result = client.call("run", language="python", policy="roads-run", code="def grüße(): return 1\nx = 'ä'; import socket\n")
eq((result["ran"], result["policy"]["findings"][-1]["line"]), ("yes", 2), "an import statement is caught when it runs")
code = "".join(f"def f{n}():\n    import json.tool as x\n    return x\n" for n in range(100)) + "print(f99().__name__)\n"
result = client.call("run", language="python", policy="roads-run", code=code)
eq((result["outcome"], result["stdout"]), ("ok", "json.tool\n"), "a hundred imports under one name are fine")
for policy, code, rule in (
    ("strict-run", "help('x')", "python.call.denied"),
    ("strict-run", "license()", "python.name.denied"),
):
    result = client.call("run", language="python", policy=policy, code=code)
    eq((result["outcome"], result["ran"], result["policy"]["findings"][-1]["rule"]), ("policy_denied", "yes", rule),
       f"a call of what site puts among the builtins is caught: {code}")

# In node a policy checks only the text.  The jail refuses everything that a program reaches by a hidden
# name, under every policy.
NODE_ROADS = {
    "another program": "require('child_' + 'process').execFileSync('/usr/bin/node', ['-v'])",
    "another program by an import in a text that is run":
        "return eval('im' + 'port(\"child_process\")').then((module) => module.execSync('x'))",
    "the network": "return new Promise((_, no) => new Function('return process')().mainModule.require('net').connect(1, '127.0.0.1').on('error', no))",
    "a socket with a name": "return new Promise((_, no) => require('net').connect('/work/x').on('error', no))",
    "a file of the host": "require('fs').writeFileSync('/usr/bin/x', '')",
}
for name, code in NODE_ROADS.items() if has_node else ():
    code = f"(async () => {{ {code} }})().catch((e) => console.log(['EPERM', 'EROFS', 'EACCES'].includes(e.code)))"
    result = client.call("run", language="javascript", policy="observe", code=code, limits={"wall_ms": 20000})
    eq((result["outcome"], result["stdout"]), ("ok", "true\n"), f"the jail refuses to a program of node: {name}")
if has_node:
    code = "require('fs').writeFileSync('x.node', \"\\x7fELF\");" \
           "try { process['dl' + 'open']({ exports: {} }, '/work/x.node'); } catch (e) { console.log(e.code) }"
    result = client.call("run", language="javascript", policy="observe", code=code, limits={"wall_ms": 20000})
    eq((result["outcome"], result["stdout"]), ("ok", "ERR_DLOPEN_FAILED\n"), "and native code that it wrote itself")
    result = client.call("run", language="fixed-node", code="""
const tell = (name, f) => { try { f(); console.log(name); } catch (e) { console.log(name, e.code ?? e.name); } };
tell('eval', () => (0, eval)('1'));
tell('Function', () => (() => 1).constructor('1'));
tell('import', () => new (class extends Function { constructor() { super('import("fs")'); } })());
tell('proto', () => ({}).__proto__.x);
tell('require', () => require('path'));
""", limits={"wall_ms": 20000})
    eq((result["outcome"], result["stdout"]), ("ok", "eval EvalError\nFunction EvalError\nimport EvalError\nproto ERR_PROTO_ACCESS\nrequire\n"),
       "node's own options close eval and the like for a whole runtime")

# ---- forged messages from inside the jail -----------------------------------------------------------

FORGE = """
import os, struct
body = %r
os.write(3, struct.pack('=IIIi', 0x43454401, 7, len(body), 0) + body)
import time; time.sleep(0.3)
print('fine')
"""
honest = FORGE % b'{"rule":"python.import.dangerous","line":5,"column":1,"text":"x","file":"lib.py"}'
result = client.call("run", language="python", policy="standard", code=honest)
eq((result["outcome"], result["stdout"]), ("ok", "fine\n"), "where there are no rules it means nothing")
result = client.call("run", language="python", policy="roads-run", code=honest)
eq((result["outcome"], result["ran"]), ("policy_denied", "yes"), "a forged one ends its own run")
for body in (b'{"rule":"no.such.rule","line":-5,"column":1e99,"text":3,"file":[]}', b'{"rule":"python.import.denied"}'):
    result = client.call("run", language="python", policy="roads-run", code=FORGE % body)
    eq((result["outcome"], result["ran"]), ("policy_denied", "yes"), "whatever it says")
for body in (b"", b"null", b"{", b'{"rule":3}', b"[" * 5000):
    result = client.call("run", language="python", policy="roads-run", code=FORGE % body)
    eq((result["outcome"], result["ran"]), ("policy_denied", "yes"), f"even what cannot be read: {body[:12]}")
result = client.call("run", language="python", policy="roads-run", code="import os\nos.close(3)\nprint('closed', flush=True)\n__import__('socket')\nprint('through')")
ok(result["outcome"] != "ok" and result["stdout"] == "closed\n", "who closes the socket ends all the same", (result["outcome"], result["stdout"]))

# ---- what it must not change ------------------------------------------------------------------------

ORDINARY = """
import collections, dataclasses, datetime, decimal, enum, functools, json, re, statistics, typing, uuid, zoneinfo
P = collections.namedtuple("P", "x y")
@dataclasses.dataclass(order=True)
class D:
    a: int
    b: typing.List[int] = dataclasses.field(default_factory=list)
class E(enum.Enum):
    ONE = 1
@functools.lru_cache
def f(x: int) -> int: return x * 2
def g(x): return "int" if isinstance(x, int) else "any"
print(P(1, 2), D(1), E.ONE, f(4), g(1), g("x"), re.sub("a", "b", "aaa"), statistics.mean([1, 2]))
print(datetime.datetime.strptime("2024-01-02", "%Y-%m-%d"), zoneinfo.ZoneInfo("Europe/Berlin"), decimal.Decimal("1.10"))
print("grüße".encode("idna"), "x".encode("cp1252"), json.dumps({"a": [1.5, None]}), isinstance(print, object))
print(sorted([3, 1]), [*map(str, range(3))], max((1, 2)), "%s %r" % (1, "x"), f"{3:>5}", type(1), hasattr([], "append"))
try: 1 / 0
except ZeroDivisionError as error: print("error:", error)
"""
plain = client.call("run", language="python", code=ORDINARY)
eq(plain["outcome"], "ok", "an ordinary program runs")
held = client.call("run", language="python", code=ORDINARY, policy="strict-run")
eq((held["outcome"], held["stdout"]), ("ok", plain["stdout"]), f"and says the same where it is watched: {held['reason']}")
held = client.call("run", language="python", code="def f():\n    1 / 0\nf()\n", policy="strict-run")
plain = client.call("run", language="python", code="def f():\n    1 / 0\nf()\n")
eq((held["outcome"], held["stderr"], held["error"]), (plain["outcome"], plain["stderr"], plain["error"]), "its errors are shown in the same words")
done()
