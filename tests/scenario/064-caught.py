"""The corpus of the policy, run under a policy of which only one half is there.

Under strict-run nobody looks at the text: what the worker sees of the compiled program and of what it
does must be enough.  Under strict-text the worker looks at nothing.
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


# ---- what nobody who runs it need mind -------------------------------------------------------------

# Rules about the text alone: they hold against people who read it, or against our own reading.
TEXT_ONLY = ("python.bytes.", "python.syntax.", "python.input.", "javascript.bytes.", "javascript.syntax.", "javascript.input.",
             "policy.")


def is_text_only(case):
    return all(rule.startswith(TEXT_ONLY) for rule in case.rules)


cases = [Case(name) for name in sorted(os.listdir(folder)) if name.endswith(".case") and (not wanted or name[:-5] in wanted)]
cases = [case for case in cases if case.policy == "strict"]

# What a rule over the text denies for its mere name, and what does nothing when it runs.
IDLE = {
    "evasion-class-skips-a-statement": "it is in a function that nobody calls",
    "evasion-class-skips-the-function-augmented": "it is in a function that nobody calls",
    "evasion-eval-bound-in-class": "it is in a function that nobody calls",
    "evasion-eval-global": "it gives the name another meaning",
    "evasion-imported-name-maybe": "json's loads is what it calls",
    "evasion-module-parenthesised": "a module that is named and not used",
    "evasion-type-of-three": "it makes a class like any other",
}

for reason, names in {
    "it takes a function and does not call it": """constructor-by-array constructor-by-choice constructor-by-sequence
        constructor-by-variable constructor-half-known constructor-in-parentheses constructor-pattern-computed
        constructor-pattern-default constructor-pattern-short constructor-pattern eval-comma-line eval-shorthand function-bind
        process-pattern prototype-of-pattern reflect-alias""",
    "it is in a function that nobody calls": "constructor-of-this eval-arrow eval-default eval-field",
    "it loads a module, all of which is closed, and calls nothing of it": "import-dynamic-await import-dynamic-variable import-dynamic",
    "there is nothing in it that the program has not got": """process-env require-cache this-of-a-declared-function
        this-of-a-function""",
}.items():
    IDLE.update((f"evasion-javascript-{name}", reason) for name in names.split())


def try_language(language, least_evasions, least_innocents):
    mine = [case for case in cases if case.language == language]
    evasions = [case for case in mine if case.denied and not is_text_only(case)]
    innocents = [case for case in mine if not case.denied]
    through, strange = [], []
    for case, result in results_of(evasions, "strict-run"):
        if result["outcome"] == "policy_denied":
            findings = result["policy"]["findings"]
            if not (result["ran"] in ("yes", "no") and findings and findings[-1]["severity"] == "deny" and findings[-1]["message"]):
                strange.append((case.name, result["ran"], findings))
        elif result["outcome"] not in ("syntax_error", "exception") and case.name not in IDLE:
            through.append((case.name, result["outcome"], result.get("reason")))
    ok(len(evasions) >= (0 if wanted else least_evasions) and not through,
       f"none of {len(evasions)} evasions in {language} gets past the worker alone", through)
    eq(strange, [], "each that is caught says by which rule")
    accused = [(case.name, result["outcome"], result["reason"]) for case, result in results_of(innocents, "strict-run")
               if result["outcome"] == "policy_denied"]
    ok(len(innocents) >= (0 if wanted else least_innocents) and not accused,
       f"none of {len(innocents)} innocents in {language} is accused by it", accused)
    through = [(case.name, result["outcome"]) for case, result in results_of(evasions, "strict-text")
               if result["outcome"] != "policy_denied" or result["ran"] != "no"]
    eq(through, [], "none gets past the text alone")


has_node = any(runtime["name"] == "javascript" for runtime in client.call("runtimes")["runtimes"])
try_language("python", 140, 100)
if has_node:
    try_language("javascript", 100, 60)
else:
    ok(True, "none of the evasions in javascript gets past the worker alone # SKIP this host has no node")

# ---- roads that no text shows ----------------------------------------------------------------------

# Under `roads-run` one thing is denied, and only while it runs: to import what reaches the network, or the system in node.
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
    hoped = [] if "poses" in name else ["python.import.dangerous"]  # no rule of this policy is about that
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
eq((result["ran"], result["policy"]["findings"][-1]["line"]), ("no", 2), "what is seen before the first line has not run")

NODE_ROADS = {
    "node: a module": "require('f' + 's')",
    "node: a module that is imported": "import fs from 'fs'; fs.readdirSync('.')",
    "node: one that is imported while it runs": "import('f' + 's').then((fs) => fs.readdirSync('.'))",
    "node: its promises": "import('fs').then(({ promises }) => promises.readFile('main.js'))",
    "node: called by a timer": "import('fs').then((fs) => setTimeout(fs.writeFileSync, 1, 'x', 'y'))",
    "node: called by a promise": "import('fs').then((fs) => Promise.resolve('x').then(fs.readFileSync))",
    "node: called by an event": "const e = new (require('events'))(); e.on('x', process.dlopen); e.emit('x', {}, 'y')",
    "node: called by a list": "[1].forEach(process.kill.bind(process, 1))",
    "node: a text that is run": "(0, eval)('1')",
    "node: a function made of text": "(() => 1).constructor('return 1')()",
    "node: of another kind": "(async function* () {}).constructor('yield 1')()",
    "node: by inheriting": "new (class extends Function { constructor() { super('return 1'); } })()",
    "node: by a text's constructor": "''.constructor.constructor('return process')().exit(3)",
    "node: a binding": "process['bin' + 'ding']('fs')",
    "node: by its own loader": "module.constructor._load('fs')",
    "node: code for its loader": "module._compile('1', 'x.js')",
    "node: by the main module": "process.mainModule.require('fs')",
    "node: later": "queueMicrotask(() => require('child_process'))",
    "node: without a stack": "Error.stackTraceLimit = 0; require('fs')",
    "node: with stacks of its own": "Error.prepareStackTrace = () => 'node:fs'; require('fs')",
    "node: the world by its name": "globalThis['ev' + 'al']('1')",
    "node: with sets that have everything": "Set.prototype.has = () => true; require('fs').readdirSync('.')",
    "node: with maps that have nothing": "Map.prototype.get = () => undefined; require('fs').readdirSync('.')",
    "node: with lists that begin with node":
        "Array.prototype.filter = () => [['node:fs', 1, 1]]; Array.prototype.find = () => ['node:fs', 1, 1]; eval('1')",
    "node: with texts that begin with everything": "String.prototype.startsWith = () => true; eval('1')",
    "node: with an Error of its own": "Error = { captureStackTrace: (h) => (h.stack = [['node:fs', 1, 1]]) }; eval('1')",
    "node: with stacks that it takes itself": "Error.captureStackTrace = (h) => { h.stack = [['node:fs', 1, 1]]; }; eval('1')",
    "node: with an Error that is frozen": "Error.stackTraceLimit = 0; Object.freeze(Error); eval('1')",
    "node: with a trap in every handler":
        "let real; Object.prototype.get = (target) => (real = target); void eval.x; delete Object.prototype.get; (real || eval)('1')",
    "node: with nothing to tell it by": "Buffer.alloc = () => ({ writeUInt32LE() {}, writeInt32LE() {} }); Buffer.concat = () => ({ length: 0 });"
        " Buffer.from = () => ({ length: 1 }); Function.prototype.call = () => {}; require('fs').readdirSync('.')",
    "node: with texts that are nothing": "String.prototype.slice = String.prototype.charCodeAt = () => ''; JSON.stringify = () => ''; eval('1')",
    "node: by a stream": "require('stream').Readable.from(['1']).map(eval).toArray()",
    "node: by an address": "new URLSearchParams({ a: '1' }).forEach(eval)",
    "node: by a query": "require('querystring').parse('a=1', null, null, { decodeURIComponent: eval })",
    "node: by an assertion": "require('assert').doesNotThrow(eval.bind(null, '1'))",
    "node: by a stopwatch": "performance.timerify(eval)('1')",
    "node: by a stream of the web": "new WritableStream({ write: eval }).getWriter().write('1')",
    "node: as the main module": "module.constructor._load('fs', null, true).readdirSync('.')",
    "node: a hook of its loader": "(module.constructor.register || eval)('data:text/javascript,1')",
    "node: as what its loader reads":
        "try { require.resolve('./x', Object.defineProperty({}, 'paths', { get: eval.bind(null, '1') })); } catch {}",
    "node: a function of it as what its loader reads":
        "require.resolve('./x', { paths: Object.defineProperty([], 0, { get: (() => 1).constructor.bind(null, '1') }) })",
    "node: its loader's hand": "require.extensions['.json']({}, '/work/x.json')",
    "node: a class by what it makes": "import('vm').then((vm) => new vm.Script.prototype.constructor('1').runInThisContext())",
    "node: a module with a scheme": "import('node:te' + 'st').then((test) => test.run({ files: ['main.js'] }))",
    "node: as it is printed": "let real; Object.prototype[Symbol.for('nodejs.util.inspect.custom')] = function () { real ??= this; };"
        " console.log('%o', eval); if (real('1') !== 1) eval('1')",
    "node: as it is about to be printed": "let real; Object.defineProperty(Function.prototype, Symbol.for('nodejs.util.inspect.custom'),"
        " { get() { real ??= this; } }); console.log(eval); if (real('1') !== 1) eval('1')",
    "node: the world as it is printed": "let real; Object.prototype[Symbol.for('nodejs.util.inspect.custom')] = function () { real ??= this; };"
        " console.log('%o', globalThis); if (!real.process) globalThis.process",
    "node: what stdin holds": "const s = process.stdin; for (const k of Object.getOwnPropertySymbols(s)) s[k]?.readFileSync?.('main.js');"
        " s.constructor('main.js')",
    "node: what makes stdin": "const { stdin } = process; new stdin[['constr', 'uctor'].join('')]('main.js').on('data', console.log)",
    "node: how stdin is opened": "const s = Object.create(process.stdin); s.fd = null; s.path = 'main.js'; s.flags = 'r'; s._construct(() => {})",
    "node: what stdout can do": "process.stdout.connect({ path: '/work/x' }).on('error', () => {})",
    "node: a stream of files": "import('fs').then((fs) => new fs.ReadStream('main.js'))",
    "node: a stream into files": "import('fs').then(({ default: fs }) => new fs.WriteStream('x').end('y'))",
    "node: what hangs on a function": "import('fs').then((fs) => require('util').promisify(fs.exists)('main.js'))",
    "node: what hangs on it by name": "import('fs').then((fs) => fs.realpathSync.native('main.js'))",
    "node: an agent of everybody's": "import('http').then((http) => http.globalAgent.createConnection({ path: '/work/x' }).on('error', () => {}))",
    "node: a report into a file": "process.report.writeReport('/work/r.json')",
    "node: loaded by the main module": "process.mainModule.load(__filename)",
}
for name, code in NODE_ROADS.items() if has_node else ():
    result = client.call("run", language="javascript", policy="strict-run", code=code, limits={"wall_ms": 20000})
    rules = [finding["rule"] for finding in result["policy"]["findings"]]
    ok(result["outcome"] == "policy_denied" and rules and rules[-1].startswith("javascript."), name, (result["outcome"], rules, result["stdout"]))
# A policy that denies nothing but some modules, and those only while the program runs.
NODE_MODULES = {
    "node: imported by a text that is run": "eval('im' + 'port(\"child_process\")').then((module) => module.execSync('x'))",
    "node: imported by a function made of text": "new Function('return im' + 'port(\"net\")')().then((module) => module.connect(1))",
    "node: by the process": "(process.getBuiltinModule || require)('child_' + 'process').execSync('x')",
    "node: as if it were the main module": "module.constructor._load('child_process', null, true).execSync('x')",
    "node: imported from a file that it wrote":
        "require('fs').writeFileSync('x.js', 'im' + 'port(\"child_process\").then((module) => module.execSync(\"x\"))'); require('./x.js')",
}
for name, code in NODE_MODULES.items() if has_node else ():
    code = "console.log('begun');" + code
    result = client.call("run", language="javascript", policy="roads-run", code=code, limits={"wall_ms": 20000})
    rules = [finding["rule"] for finding in result["policy"]["findings"]]
    eq((result["outcome"], rules[-1:], result["stdout"]), ("policy_denied", ["javascript.import.dangerous"], "begun\n"), name)
if has_node:
    code = "if (globalThis.again) return void console.log('again');\nglobalThis.again = true;\n" \
           "require('async_hooks').executionAsyncResource().callback('console.log(ev' + 'al(\"1\"))', 'x.js');\n"
    result = client.call("run", language="javascript", policy="names-run", code=code)
    eq((result["outcome"], result["stdout"]), ("ok", "again\n"), "node: what runs the program compiles nothing else")
    for policy in ("strict", "strict-run", "roads-run"):
        for entrypoint in ("main.js", "main.cjs"):
            result = client.call("run", language="javascript", policy=policy, entrypoint=entrypoint, code="// imports nothing\nconsole.log(require('path').sep)")
            eq((result["outcome"], result.get("stdout")), ("ok", "/\n"), f"{policy} leaves alone {entrypoint} which speaks of imports")
    code = "const { Readable } = require('stream');\nfunction f() {\n  throw new TypeError('own');\n}\n(async () => {\n" \
           "  for await (const x of Readable.from(['a'])) console.log(x, [1, 2].map((n) => n * 2), typeof eval);\n  f();\n})();\n"
    for text in "process.stdin.on('data', (d) => console.log(String(d)))", "require('readline').createInterface({ input: process.stdin }).on('line', console.log)":
        result = client.call("run", language="javascript", policy="strict", code=text, stdin="one\n")
        eq((result["outcome"], result.get("stdout", "").strip()), ("ok", "one"), f"node: stdin is read where it leads nowhere: {text}")
    plain, held = (client.call("run", language="javascript", policy=policy, code=code) for policy in ("standard", "strict-run"))
    eq([held[key] for key in ("outcome", "stdout", "stderr", "error")], [plain[key] for key in ("outcome", "stdout", "stderr", "error")],
       "a program of node that breaks no rule says the same where it is watched")

# ---- what the word from inside is worth -------------------------------------------------------------

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
