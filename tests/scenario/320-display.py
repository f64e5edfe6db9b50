"""What a Python program displays: values, figures and what hostile programs send in their place."""

import glob
import json
import os
import sys
import time

import msgpack

from wire import Client, done, eq, ok

state = sys.argv[1]
client = Client()
ROOMY = {"wall_ms": 60000, "cpu_ms": 30000}


def run(code, language="python", limits=None, **params):
    return client.call("run", language=language, code=code, display=True, limits={**ROOMY, **(limits or {})}, **params)


def texts(result):
    return [item["data"].get("text/plain") for item in result["display"]]


def main_of(result):
    mains = [item["data"] for item in result["display"] if item["main"]]
    return mains[0] if len(mains) == 1 else mains


# ---- the value of the last expression ------------------------------------------------------------

for name, code, shown in (
    ("a number", "6 * 7", ["42"]),
    ("a text", "'a\\nb'", ["'a\\nb'"]),
    ("nothing is None", "x = 1\nNone", []),
    ("nothing is an assignment", "x = 1", []),
    ("nothing is a definition", "def f(): return 1", []),
    ("nothing is a call that returns None", "print('x')", []),
    ("a semicolon silences it", "42;", []),
    ("also before a comment", "42  ; # that was it", []),
    ("also on the next line", "42 \\\n;", []),
    ("a semicolon in a comment or a text does not", "'a;'  # b;", ["'a;'"]),
    ("several statements on a line", "x = 3; x", ["3"]),
    ("an expression over several lines", "(1 +\n 2\n)", ["3"]),
    ("a program that is a text alone", "'words'", ["'words'"]),
    ("an empty program", "", []),
    ("a program that is a comment", "# nothing", []),
    ("a byte order mark", "\ufeff'x';", []),
    ("line ends of another system", "x = 1\r\nx;\r\n", []),
    ("a future of the program holds for its last expression, too",
     "from __future__ import annotations\n(lambda: 1).__class__.__name__", ["'function'"]),
    ("top-level await", "import asyncio\nawait asyncio.sleep(0, 'slept')", ["'slept'"]),
    ("awaits in several places", "import asyncio\nasync def f(n): return n\nx = await f(2)\nfor i in range(2): x += await f(1)\nx", ["4"]),
    ("async with and async for", "class A:\n async def __aenter__(self): return 1\n async def __aexit__(self, *a): pass\n"
     "async def g():\n yield 2\nasync with A() as a: pass\nasync for b in g(): pass\na, b", ["(1, 2)"]),
    ("asyncio.run() where nothing awaits", "import asyncio\nasync def f(): return 5\nasyncio.run(f())", ["5"]),
):
    result = run(code)
    eq((result["outcome"], texts(result)), ("ok", shown), name)

result = run("{'a': [1, 2.5, None, True], 3: 'x'}")
eq(main_of(result), {"text/plain": "{'a': [1, 2.5, None, True], 3: 'x'}", "application/json": {"a": [1, 2.5, None, True], "3": "x"}},
   "dicts and lists come as JSON, too")
for name, code in (("NaN", "[float('nan')]"), ("a cycle", "x = []\nx.append(x)\nx"), ("a number of 65 bits", "[1 << 64]"),
                   ("20 levels", "x = 1\nfor i in range(20): x = [x]\nx"), ("objects", "[object]"), ("a large one", "[0] * 200000")):
    eq(list(main_of(run(code))), ["text/plain"], f"what has no JSON is text alone: {name}")
eq(main_of(run("[1 << 63, -1 << 63, (1 << 64) - 1, -5, 127, 128]"))["application/json"],
   [1 << 63, -1 << 63, (1 << 64) - 1, -5, 127, 128], "integers of 64 bits are kept")
eq(len(main_of(run("'x' * (3 << 20)"))["text/plain"]), 1 << 20, "a representation has at most a mebibyte")
eq(main_of(run("'\\udcff'")), {"text/plain": "'\\udcff'"}, "a lone surrogate is no harm")

OBJECT = """class Thing:
    def __repr__(self): return 'thing'
    def _repr_html_(self): return '<b>thing</b>'
    def _repr_markdown_(self): return '**thing**'
    def _repr_svg_(self): return '<svg/>'
    def _repr_png_(self): return b'\\x89PNG'
    def _repr_jpeg_(self): return b'\\xff\\xd8', {'width': 3}
    def _repr_latex_(self): return '$x$'
    def _repr_json_(self): return {'thing': 1}
    def _repr_pdf_(self): return bytearray(b'%PDF')
"""
eq(main_of(run(OBJECT + "Thing()")), {
    "text/plain": "thing", "text/html": "<b>thing</b>", "text/markdown": "**thing**", "image/svg+xml": "<svg/>", "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8", "text/latex": "$x$", "application/json": {"thing": 1}, "application/pdf": b"%PDF"},
   "the methods of notebooks are asked")
BUNDLE = "class B:\n def __repr__(self): return 'b'\n def _repr_mimebundle_(self, include=None, exclude=None): return %s\nB()"
eq(main_of(run(BUNDLE % "{'text/html': '<i>', 'application/x+json': [1]}")), {"text/html": "<i>", "application/x+json": [1], "text/plain": "b"},
   "a bundle")
eq(main_of(run(BUNDLE % "({'text/html': '<i>'}, {'meta': 1})")), {"text/html": "<i>", "text/plain": "b"}, "a bundle with metadata")
eq(main_of(run(BUNDLE % "{'no type': 1, 'A/B': 'x', 'x/y': 3, 'x/json': b'y', 5: 6}")), {"x/json": b"y", "text/plain": "b"},
   "what cannot be sent is left out of a bundle")
eq(main_of(run(BUNDLE % "{f'x/{i}': 'y' for i in range(99)}"))["x/14"], "y", "of many types the first ones come")
eq(main_of(run(BUNDLE % "1/0")), {"text/plain": "b"}, "a bundle that fails is left out")
eq(main_of(run("class R:\n def __repr__(self): raise KeyError\n def _repr_html_(self): raise KeyError\nR()")),
   {"text/plain": "<repr failed: KeyError>"}, "so are methods that fail")
eq(main_of(run("class R:\n def __repr__(self): return 5\nR()")), {"text/plain": "<repr failed: TypeError>"}, "and a repr() that is none")

# ---- display() -----------------------------------------------------------------------------------

result = run("display(1, 'a')\ndisplay.mime({'text/html': '<b>', 'image/png': b'png'})\n[3]")
eq([(item["main"], item["data"]) for item in result["display"]],
   [(False, {"text/plain": "1"}), (False, {"text/plain": "'a'"}), (False, {"text/html": "<b>", "image/png": b"png"}),
    (True, {"text/plain": "[3]", "application/json": [3]})], "display() and display.mime(), in their order, and the value last")
for wrong in "{}", "{'a b': 'x'}", "{'text/plain': 5}", "{'application/json': {1j: 2}}":
    eq(run(f"display.mime({wrong})")["outcome"], "exception", f"display.mime() refuses {wrong}")
result = run("import threading\ndef f(n):\n  for i in range(20): display.mime({'x/t': str(n) * 70000})\n"
             "for n in range(4): threading.Thread(target=f, args=(n,)).start()")
found = [item["data"]["x/t"] for item in result["display"]]
eq((result["outcome"], len(found), all(text == text[0] * 70000 for text in found)), ("ok", 80, True), "threads do not write into each other's items")
eq(texts(run("import atexit\natexit.register(display, 'late')\n1")), ["1", "'late'"], "an exit handler may display")
result = run("try:\n  display(1)\nfinally:\n  import sys; sys.exit(3)")
eq((result["outcome"], result["exit_code"], texts(result)), ("exit", 3, ["1"]), "what was displayed before sys.exit() is there")
result = run("import os\ndisplay(1)\nos._exit(0)")
eq((result["outcome"], texts(result)), ("ok", ["1"]), "and before os._exit()")
result = run("display(1)\nwhile True: pass", limits={"cpu_ms": 300})
eq((result["outcome"], texts(result)), ("cpu_limit", ["1"]), "and before a limit")
result = run("import os\ndisplay('parent')\nif os.fork() == 0:\n  display('child')\n  os._exit(0)\nos.wait()\nNone", language="python-mp")
eq((result["outcome"], texts(result)), ("ok", ["'parent'"]), "a child of a fork displays nothing")
result = client.run("import os\nopened = []\nfor fd in range(64):\n  try: os.fstat(fd); opened.append(fd)\n  except OSError: pass\nprint(opened)")
eq((result["stdout"], "display" in result), ("[0, 1, 2, 3]\n", False), "a plain run has no descriptor and no key for it")
eq(client.run("display(1)")["outcome"], "exception", "nor has it display()")

# ---- errors and their places ---------------------------------------------------------------------


def place(code, **params):
    result = run(code, **params)
    plain = client.call("run", language="python", code=code, limits=ROOMY)
    return result, plain


for name, code in (
    ("in a statement", "x = 1\ny = x / 0\nx"),
    ("in the last expression", "x = 1\n\nx / 0"),
    ("in a function", "def f():\n    return 1 / 0\n\nf()"),
    ("of syntax", "x = 1\nif x:\nprint(2)"),
    ("of syntax that only the compiler sees", "x = 1\nreturn x"),
    ("of a future that does not exist", "from __future__ import teleport"),
    ("in an exception group of threads", "raise ValueError('x') from KeyError('y')"),
):
    result, plain = place(code)
    eq((result["outcome"], result["error"], result["stderr"]), (plain["outcome"], plain["error"], plain["stderr"]),
       f"an error is told as without display: {name}")
result = run("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    raise ValueError('deep')\n\nx = 1\nawait f()")
eq((result["outcome"], result["error"]["line"], [f["line"] for f in result["error"]["frames"]]), ("exception", 4, [7, 4]),
   "an error behind an await has the program's frames alone")
ok("asyncio" not in result["stderr"] and "line 7, in <module>" in result["stderr"], "also in the traceback", result["stderr"])
eq(run("import asyncio\nasync def f():\n  raise SystemExit(4)\nawait f()")["exit_code"], 4, "an exit behind an await is an exit")
result = run("import asyncio\nasync def f():\n  try: await asyncio.sleep(60)\n  finally: print('cancelled')\nt = asyncio.ensure_future(f())\n"
             "await asyncio.sleep(0)")
eq((result["outcome"], result["stdout"]), ("ok", "cancelled\n"), "tasks that are left are cancelled at the end")
eq(client.run("await x")["outcome"], "syntax_error", "a plain run has no top-level await")
eq(run("import sys\nsys._getframe().f_back is None")["display"][0]["data"], {"text/plain": "True"}, "no frame of ours is below the program")

# ---- hostile programs ----------------------------------------------------------------------------

PIPE = """import os
fd = display.__globals__['current'].fd
def send(data):
    data = memoryview(data)
    while data: data = data[os.write(fd, data):]
"""
ITEM = b"\x81\xa4data\x81\xaatext/plain\xa1x"


def sends(name, data, count, broken, truncated=(), outcome="ok", **params):
    result = run(PIPE + f"send({data})\nNone", **params)
    eq((result["outcome"], len(result["display"]), "display_broken" in result, tuple(result["truncated"])),
       (outcome, count, broken, truncated), name)
    return result


I = repr(ITEM)
sends("garbage ends the list", f"{I} + b'garbage' + {I}", 1, True)
sends("every byte alone ends it or is none", "bytes(range(256))", 0, True)
sends("half a map", f"{I} + {I}[:-3]", 1, True)
sends("a head alone", "b'\\x81'", 0, True)
sends("a million items", f"{I} * 100000", 256, False, ("display",), limits={"display_bytes": 64 << 20})
sends("empty maps", "b'\\x80' * 1000000", 0, True)
sends("nesting of 1000", "b'\\x81\\xa4data\\x81\\xb0application/json' + b'\\x91' * 1000 + b'\\x01'", 0, True)
sends("nesting of seven million", "b'\\x81\\xa4data\\x81\\xb0application/json' + b'\\x91' * 7000000", 0, True)
sends("a map that announces a million entries", "b'\\xdf\\x00\\x0f\\x42\\x40\\xa4data\\x80'", 0, True)
sends("a map that announces four billion", f"{I} + b'\\xdf\\xff\\xff\\xff\\xff' + {I} * 1000", 1, True)
sends("bytes that announce four gigabytes", "b'\\x81\\xa4data\\x81\\xa9image/png\\xc6\\xff\\xff\\xff\\xff' + b'x' * 1000", 0, True)
sends("texts that are no UTF-8", "b'\\x81\\xa4data\\x81\\xaatext/plain\\xa2\\xff\\xfe'", 0, True)
sends("a type with an escape sequence", "b'\\x81\\xa4data\\x81\\xa6a/\\x1b[2J\\xa0'", 0, True)
sends("types that are wrong", "b'\\x82\\xa4main\\xa1x\\xa4data\\x81\\xaatext/plain\\x01'", 0, True)
sends("a list of small lists that would fill the memory", "b'\\x81\\xa4data\\x81\\xb0application/json\\xdd\\x00\\x6f\\xff\\xff' + b'\\x90' * 0x6fffff",
      0, True)
sends("JSON of two hundred megabytes", f"{I} + b'\\x81\\xa4data\\x81\\xb0application/json\\xdb\\x02\\x00\\x00\\x00' + b'\\x01' * 0x2000000",
      1, True, limits={"display_bytes": 64 << 20})
result = sends("a flood past the cap is killed", "b'\\x81\\xa4data\\x81\\xa9image/png\\xc6\\xff\\xff\\xff\\xff' + bytes(1 << 20)", 0, False,
               ("display",), "output_limit", limits={"display_bytes": 1 << 16})
eq((result["evidence"]["limit"], result["evidence"]["limit_bytes"], result["evidence"]["read_bytes"]), ("display_bytes", 1 << 16, 1 << 16),
   "at that byte, and the evidence says so")
ok("display" in result["reason"], "and the reason", result["reason"])
result = sends("what was whole is kept", f"{I} * 10 + b'\\x81\\xa4data\\x81\\xa9image/png\\xc6\\x00\\x10\\x00\\x00' + bytes(1 << 20)", 10, False,
               ("display",), "output_limit", limits={"display_bytes": 1 << 16})
result = sends("with truncate it runs on", f"{I} * 10 + b'\\x81\\xa4data\\x81\\xa9image/png\\xc6\\x00\\x10\\x00\\x00' + bytes(1 << 20) + {I} * 5",
               10, False, ("display",), limits={"display_bytes": 1 << 16}, on_output_limit="truncate")
sends("to the byte", f"{I} * 3", 3, False, limits={"display_bytes": 3 * len(ITEM)})
sends("and one byte more", f"{I} * 3", 2, False, ("display",), "output_limit", limits={"display_bytes": 3 * len(ITEM) - 1})
sends("a limit of nothing", I, 0, False, ("display",), "output_limit", limits={"display_bytes": 0})
result = run(PIPE + "send(b'\\x82\\xa4main\\xc3\\xa4data\\x81\\xaatext/plain\\xa6forged')\nimport sys\nsys.exit(7)")
eq((result["outcome"], result["exit_code"], main_of(result)), ("exit", 7, {"text/plain": "forged"}), "a forged value is detail, and changes no outcome")
result = run(PIPE + "import threading\nwritten = threading.Event()\nthreading.Thread(target=lambda: [(os.write(fd, b'\\x80'), written.set()) for _ in iter(int, 1)], daemon=True).start()\nwritten.wait()\n1")
eq((result["outcome"], "display_broken" in result), ("ok", True), "a thread that writes beyond the end ends with the run")
result = run(PIPE + f"if os.fork() == 0:\n  os.setsid()\n  while True: os.write(fd, {I})\nNone", language="python-mp", limits={"display_bytes": 1 << 20})
ok(result["outcome"] in ("ok", "output_limit"), "a child that writes beyond the end, too", result["outcome"])
result = run(PIPE + "os.close(fd)\ndisplay(1)\n2")
eq((result["outcome"], result["display"]), ("ok", []), "a program that has closed the pipe goes on without it")
result = run(PIPE + "os.dup2(1, fd)\nprint('x')\ndisplay(1)")
eq((result["outcome"], result["display"], result["stdout"][:2]), ("ok", [], b"x\n"), "or has put another in its place")
result = run("import sys\ng = display.__globals__\ng['current'] = None\n1")
eq(result["outcome"], "exception", "what a program does to our functions hurts that program")
eq(run("1")["display"], [{"main": True, "data": {"text/plain": "1"}}], "and no other")
for kind in (16, 12, 2, 5, 6):
    word = (0x43454401).to_bytes(4, "little") + kind.to_bytes(4, "little") + (len(ITEM)).to_bytes(4, "little") + bytes(4) + ITEM
    result = client.call("run", language="python", code=f"import os\nos.write(3, {word!r} * 3)\nprint(1)", display=kind == 12, limits=ROOMY)
    ok("display" not in result or result["display"] == [], f"words of kind {kind} on the job socket are not its display", result)
flood = client.call("run", language="python", display=True, limits={"wall_ms": 60000, "cpu_ms": 60000}, code=f"""import os
word = {word!r}
word = word[:4] + (12).to_bytes(4, "little") + word[8:]
sent = 0
while sent < 100 << 20: sent += os.write(3, word * 100)
""")
ok(flood["outcome"] not in ("ok", "wall_limit"), "who sends words that it has a pipe for is cut", flood)
ok(client.run("print(1)")["stdout"] == "1\n", "the daemon goes on")

# ---- fuzzing over the real door ------------------------------------------------------------------

FUZZ = PIPE + """import random
random.seed(%d)
seeds = %r
data = bytearray()
for _ in range(random.randrange(1, 8)):
    item = bytearray(random.choice(seeds))
    for _ in range(random.randrange(4)):
        item[random.randrange(len(item))] = random.randrange(256)
    data += item[:random.choice((len(item), len(item), random.randrange(len(item) + 1)))]
send(bytes(data))
os._exit(5)
"""
SEEDS = [ITEM, msgpack.packb({"main": True, "data": {"image/png": b"x" * 40, "application/json": {"a": [1, None, 2.5, {"b": "c"}]}}})]
SEEDS += [open(name, "rb").read()[:4096] for name in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "../fuzz/corpus/display/*")))]
SEEDS = [seed for seed in SEEDS if seed]
odd = []
for seed in range(int(os.environ.get("CED_FUZZ_RUNS", "60"))):
    result = run(FUZZ % (seed, SEEDS))
    record = client.call("runs.get", run_id=result["run_id"])
    same = [{"main": item["main"], "data": item["data"]} for item in record["display"]] == result["display"]
    if result["outcome"] != "exit" or result["exit_code"] != 5 or not same or len(result["display"]) > 256:
        odd.append((seed, result["outcome"], result["display"], record["display"]))
ok(not odd, "whatever is sent, the outcome is the program's and the record is the result", odd[:2])

# ---- the record ----------------------------------------------------------------------------------

BIG = "display.mime({'image/png': bytes(range(256)) * 1000, 'text/plain': '\\xe9' * 100000, 'application/json': list(range(30000))})\n1"
result = run(BIG, id="big")
record = client.call("runs.get", run_id=result["run_id"])
item = record["display"][0]
eq(item["bytes"], {"image/png": 256000, "text/plain": 200000, "application/json": len(json.dumps(list(range(30000)), separators=(",", ":")))},
   "the record has the sizes")
eq((sorted(item["cut"]), len(item["data"]["image/png"]), item["data"]["text/plain"], type(item["data"]["application/json"])),
   (["application/json", "image/png", "text/plain"], 65536, "\xe9" * 32768, str), "and the beginning of what is long")
for kind, whole in result["display"][0]["data"].items():
    parts, page = [], {"eof": False}
    while not page["eof"]:
        page = client.call("runs.output", run_id=result["run_id"], stream=f"display:1:{kind}", offset=sum(map(len, parts)), length=50000)
        parts.append(page["data"] if isinstance(page["data"], bytes) else page["data"].encode())
    found = b"".join(parts)
    eq(json.loads(found) if kind == "application/json" else found if kind == "image/png" else found.decode(), whole,
       f"runs.output has all of it, page by page: {kind}")
for stream in "display:1", "display:0:image/png", "display:3:text/plain", "display:1:a/b", "display:x:y", "display:-1:text/plain", "display:1:":
    error = client.receive(client.send("runs.output", run_id=result["run_id"], stream=stream))[0]
    eq((error or {}).get("code"), "not_found", f"there is no {stream}")
again = run(BIG, id="big")
eq((again["cached"], again["display"] == result["display"]), (True, True), "a repeat has the same display")
first = run("import os; os.urandom(4).hex()", cache="use")
second = run("import os; os.urandom(4).hex()", cache="use")
eq((second["cached"], second["display"]), (True, first["display"]), "so has a known result")
third = client.call("run", language="python", code="import os; os.urandom(4).hex()", cache="use", limits=ROOMY)
eq((third["cached"], "display" in third), (False, False), "a plain run does not get it")
eq(client.call("runs.replay", run_id=result["run_id"])["same"], True, "a replay displays the same")
differs = client.call("runs.replay", run_id=first["run_id"])
ok(not differs["same"] and "display" in str(differs["differs"]), "or says that it differs", differs["differs"])
exported, page = {}, {"more": True}
while page["more"]:
    page = client.call("audit.export", limit=1000, **({"after": page["next"]} if "next" in page else {}))
    exported.update((row["run_id"], row) for row in page["records"])
eq(exported[result["run_id"]]["display"][0]["bytes"], item["bytes"], "an export has it")
eq(client.call("audit.verify")["found"], 0, "the chain covers it")
eq(run("1", policy="strict", language="python")["outcome"], "ok", "the strictest policy allows it")
eq([i["data"]["text/plain"] for i in run("display([1])", policy="strict")["display"]], ["[1]"], "and display()")
denied = run("import socket\nsocket", policy="strict")
eq((denied["outcome"], denied["display"]), ("policy_denied", []), "a run that never began has displayed nothing")

# ---- secrets -------------------------------------------------------------------------------------

SECRET = "pl4ntedPlainS3cret"
CODE = """import os
s = os.environ['S']
display.mime({'text/plain': s, 'text/html': '<b>' + s, 'application/json': {s: [s, {'k': s}]}, 'image/png': b'png' + s.encode(), 'x/' + s.lower(): s})
s"""
result = run(CODE, env={"S": SECRET}, secrets=[SECRET, SECRET.lower()])
data = result["display"][0]["data"]
eq((data["text/plain"], data["application/json"]), (SECRET, {SECRET: [SECRET, {"k": SECRET}]}), "who asked gets it as it is")
record = client.call("runs.get", run_id=result["run_id"])
data = record["display"][0]["data"]
eq({kind: data[kind] for kind in ("text/plain", "text/html", "application/json")},
   {"text/plain": "[masked:secret]", "text/html": "<b>[masked:secret]", "application/json": {"[masked:secret]": ["[masked:secret]", {"k": "[masked:secret]"}]}},
   "the record has masks in texts and JSON")
eq((data["image/png"], sorted(data)), (b"png" + SECRET.encode(), ["application/json", "image/png", "text/html", "text/plain"]),
   "bytes are not searched, and a type that is a secret is left out")
eq(record["display"][1]["data"]["text/plain"], "'[masked:secret]'", "nor is it in the value")
CODE = CODE.replace("'image/png': b'png' + s.encode(), ", "")
run(CODE, env={"S": SECRET + "2"}, secrets=[SECRET + "2", SECRET.lower() + "2"])

# ---- streams -------------------------------------------------------------------------------------

watching = Client()
LIVE = "import sys\nfor i in range(3):\n  display(i)\nprint('now', flush=True)\nsys.stdin.read()\ndisplay.mime({'x/y': 'z' * 3000000})\n'last'"
msgid = watching.send("run", language="python", code=LIVE.replace("sys.stdin.read()", "import time; time.sleep(3)"), display=True, stream=True,
                      limits=ROOMY)
began = time.monotonic()
seen = []
while len([notice for notice in watching.notices if notice[0] == "run.display"]) < 3 and msgid not in watching.replies:
    for message in watching.unpacker:
        if message[0] == 1:
            watching.replies[message[1]] = message[2:]
        else:
            watching.notices.append(message[1:])
    if len([notice for notice in watching.notices if notice[0] == "run.display"]) < 3:
        watching.unpacker.feed(watching.sock.recv(1 << 16))
ok(msgid not in watching.replies, "items reach a watching client before the end")
error, result = watching.receive(msgid)
shown = [notice[1][0] for notice in watching.notices if notice[0] == "run.display"]
eq([{"main": item["main"], "data": item["data"]} for item in shown] == result["display"], True, "each item once, in its order, large ones too")
eq(len(shown), 5, "and all of them")
eq({item["run_id"] for item in shown}, {result["run_id"]}, "with the id of their run")
watching.notices.clear()
watching.call("run", language="python", code=BIG, display=True, stream=True, id="big", limits=ROOMY)
eq(len([notice for notice in watching.notices if notice[0] == "run.display"]), 2, "a repeat sends them, too")
watching.notices.clear()
result = watching.call("run", language="python", code=PIPE + f"send({I} * 300 + b'garbage')", display=True, stream=True, limits=ROOMY)
eq(len([notice for notice in watching.notices if notice[0] == "run.display"]), 256, "no more than the result has")

# ---- other languages, and what is refused --------------------------------------------------------

eq(client.call("run", language="bash", code="echo 1", display=True)["display"], [], "bash has no values to display")
error = client.receive(client.send("run", language="python", code="1", display=1))[0]
eq((error["code"], error["data"]["reason"]), ("bad_request", "type"), "display is a bool")
error = client.receive(client.send("run", language="python", code="1", limits={"display_bytes": 65 << 20}))[0]
eq((error["code"], error["data"]["pointer"]), ("bad_request", "/limits/display_bytes"), "its limit has a most")
deterministic = [run("import random, time\n[random.random(), time.time()]", deterministic=True)["display"] for _ in range(2)]
eq(deterministic[0], deterministic[1], "deterministic runs display the same")

# ---- figures and tables --------------------------------------------------------------------------

if any(runtime["name"] == "python-data" for runtime in client.call("runtimes")["runtimes"]):
    PLOT = "import matplotlib.pyplot as plt\n"
    roomy = {"memory_bytes": 1 << 30}

    def plot(code, **params):
        return run(PLOT + code, language="python-data", limits=roomy, **params)

    def is_png(item):
        return item["data"].get("image/png", b"").startswith(b"\x89PNG\r\n\x1a\n")

    result = plot("plt.plot([1, 2]); plt.show()\nplt.plot([2, 1]); plt.title('x');")
    eq((result["outcome"], [is_png(item) for item in result["display"]], result["stderr"]), ("ok", [True, True], ""),
       "plt.show() and the end show every open figure")
    result = plot("plt.figure(); plt.figure(); plt.show()\nplt.get_fignums()")
    eq([is_png(item) for item in result["display"]], [True, True, False], "plt.show() shows all of them, once")
    eq(main_of(result)["text/plain"], "[]", "and closes them")
    result = plot("figure, axes = plt.subplots()\naxes.plot([1])\nfigure")
    eq((len(result["display"]), is_png(result["display"][0]), result["display"][0]["main"]), (1, True, True), "a figure that is the value is shown once")
    eq([is_png(item) for item in plot("import matplotlib\nmatplotlib.use('Agg')\nplt.plot([1]);")["display"]], [True],
       "a program that chooses a backend itself has its figures shown at the end")
    result = plot("plt.plot([1])\n1 / 0")
    eq((result["outcome"], len(result["display"]), result["error"]["line"]), ("exception", 1, 3), "also after an error")
    result = plot("plt.plot([1])\nplt.savefig('p.png')\nplt.close()")
    eq(result["display"], [], "a figure that was closed is not shown")
    result = plot("import os\nos.environ['MPLBACKEND']", env={"MPLBACKEND": "svg"})
    eq(texts(result), ["'svg'"], "a backend that the request names is left alone")
    chart = plot("plt.bar(['a', 'b'], [3, 4]); plt.title('x');")["display"][0]["data"]["application/vnd.ced.chart+json"]
    eq((chart["type"], chart["title"], [(bar["label"], bar["value"]) for bar in chart["elements"]]),
       ("bar", "x", [("a", 3), ("b", 4)]), "a figure comes as numbers, too")
    result = plot("for n in range(11): plt.plot(range(1000))")
    eq([sorted(item["data"]) for item in result["display"]], [["image/png", "text/plain"]], "but for one with too many of them")
    table = main_of(run("import pandas as pd\npd.DataFrame({'a': range(1500), 'b': [None] * 1500, 3: pd.Timestamp('2020-01-02')})",
                        language="python-data", limits=roomy))
    eq(sorted(table), ["application/vnd.ced.table+json", "text/html", "text/plain"], "a table comes as text, HTML and values")
    values = table["application/vnd.ced.table+json"]
    eq((values["columns"], values["total"], len(values["rows"]), values["rows"][999]), (["a", "b", "3"], 1500, 1000, [999, None, "2020-01-02T00:00:00.000"]),
       "with names, the number of all rows, and the first thousand")
else:
    ok(True, "figures and tables # SKIP this host lacks matplotlib or pandas")

done()
