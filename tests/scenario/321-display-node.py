"""What a node program displays: values, bundles, and words that it writes to the job socket itself."""

from wire import Client, done, eq, ok

client = Client()
ROOMY = {"wall_ms": 60000, "cpu_ms": 30000}


def run(code, limits=None, **params):
    return client.call("run", language="javascript", code=code, display=True, limits={**ROOMY, **(limits or {})}, **params)


def shown(result):
    return [(item["main"], item["data"]) for item in result["display"]]


def text(words):
    return (True, {"text/plain": words})


# ---- values --------------------------------------------------------------------------------------

for name, code, hoped in (
    ("a number", "6 * 7", [text("42")]),
    ("a text", "'a'", [text("'a'")]),
    ("undefined is nothing", "undefined", []),
    ("a declaration is nothing", "const x = 1;", []),
    ("null is something", "null", [text("null")]),
    ("a semicolon changes nothing", "42;", [text("42")]),
    ("an object", "({a: [1, 2.5, null]})", [(True, {"text/plain": "{ a: [ 1, 2.5, null ] }", "application/json": {"a": [1, 2.5, None]}})]),
    ("an array", "[1, 'x']", [(True, {"text/plain": "[ 1, 'x' ]", "application/json": [1, "x"]})]),
    ("an object of a class", "new Map([[1, 2]])", [text("Map(1) { 1 => 2 }")]),
    ("a cycle", "const a = {}; a.a = a; a", [text("<ref *1> { a: [Circular *1] }")]),
    ("a bigint", "[1n]", [text("[ 1n ]")]),
    ("a promise that is fulfilled", "(async () => { await null; return 'late' })()", [text("'late'")]),
    ("a promise of nothing", "(async () => {})()", []),
    ("numbers of all sizes", "[0, -1, 2 ** 53 - 1, 1e300, -0.5]",
     [(True, {"text/plain": "[ 0, -1, 9007199254740991, 1e+300, -0.5 ]", "application/json": [0, -1, 2**53 - 1, 1e300, -0.5]})]),
    ("with require, module and names", "[typeof require('fs').readFileSync, require('path').basename(__filename), __dirname, module.id].join()",
     [text("'function,main.js,/work,.'")]),
    ("a module has display() only", "import fs from 'fs'; display(await Promise.resolve(3)); 7", [(False, {"text/plain": "3"})]),
    ("so has a program with a return", "display(1); return 5", [(False, {"text/plain": "1"})]),
    ("display() of several", "display(1, 'x'); 2", [(False, {"text/plain": "1"}), (False, {"text/plain": "'x'"}), text("2")]),
    ("a bundle", "display.mime({'text/html': '<b>', 'image/png': Buffer.from([1, 2]), 'application/json': {a: 1}})",
     [(False, {"text/html": "<b>", "image/png": b"\x01\x02", "application/json": {"a": 1}})]),
    ("what has replaced the prototypes", "Array.prototype.push = () => { throw 1 }; Array.prototype[Symbol.iterator] = null; 5", None),
):
    result = run(code)
    if hoped is not None:
        eq((result["outcome"], shown(result)), ("ok", hoped), name)
    else:
        ok(result["outcome"] in ("ok", "exit", "exception"), f"{name} hurts itself alone", result)
eq(len(run("'x'.repeat(3000000)")["display"][0]["data"]["text/plain"]) <= 1 << 20, True, "a text has at most a mebibyte")
png = run("display.mime({'image/png': Buffer.alloc(3000000, 7)})")["display"][0]["data"]["image/png"]
eq(png, bytes([7]) * 3000000, "a large one comes in pieces, and is whole")
for wrong in "{}", "{'a b': 'x'}", "{'text/plain': 5}", "{'application/json': 5n}", "{'a/b;c=d': ''}":
    eq(run(f"display.mime({wrong})")["outcome"], "exception", f"display.mime() refuses {wrong}")
result = run("display(1); process.exit(3)")
eq((result["outcome"], result["exit_code"], len(result["display"])), ("exit", 3, 1), "what was displayed before an exit is there")
result = run("display(1); for (;;);", limits={"cpu_ms": 300})
eq((result["outcome"], len(result["display"])), ("cpu_limit", 1), "and before a limit")
eq("display" in client.call("run", language="javascript", code="1", limits=ROOMY), False, "a plain run has none")
eq(client.call("run", language="javascript", code="display(1)", limits=ROOMY)["outcome"], "exception", "nor has it display()")
plain, showing = (client.call("run", language="javascript", code="function f() {\n  null.x;\n}\nf()", display=display, limits=ROOMY)
                  for display in (False, True))
for key in "type", "message", "line", "column", "text":
    eq(showing["error"][key], plain["error"][key], f"an error is told as without display: {key}")
eq([frame["line"] for frame in showing["error"]["frames"] if frame["file"].endswith("main.js")], [4, 2], "with the program's frames")
ok("ced" not in showing["stderr"], "and none of ours", showing["stderr"])
plain, showing = (client.call("run", language="javascript", code="let x = ;", display=display, limits=ROOMY) for display in (False, True))
eq((showing["outcome"], showing["error"]), (plain["outcome"], plain["error"]), "so is one of syntax")
result = run("(async () => { throw new Error('late') })()")
eq((result["outcome"], result["error"]["message"]), ("exception", "late"), "a promise that is rejected is an error")
eq(shown(run("[1]", policy="strict")), [(True, {"text/plain": "[ 1 ]", "application/json": [1]})], "the strictest policy allows it")
eq(run("display(1)", policy="strict")["outcome"], "ok", "and display()")

# ---- words on the job socket ---------------------------------------------------------------------

WORD = """const fs = require('fs');
function word(kind, body) {
  const head = Buffer.alloc(16);
  head.writeUInt32LE(0x43454401, 0); head.writeUInt32LE(kind, 4); head.writeUInt32LE(body.length, 8);
  return Buffer.concat([head, body]);
}
function send(bytes) { for (let at = 0; at < bytes.length;) at += fs.writeSync(3, bytes, at) }
const ITEM = Buffer.from('\\x81\\xa4data\\x81\\xaatext/plain\\xa1x', 'latin1');
"""


def sends(name, code, count, broken, truncated=(), outcome="ok", **params):
    result = run(WORD + code + "\nundefined", **params)
    eq((result["outcome"], len(result["display"]), "display_broken" in result, tuple(result["truncated"])),
       (outcome, count, broken, truncated), name)
    return result


sends("an item in one word", "send(word(12, ITEM))", 1, False)
sends("each byte in a word of its own", "for (const byte of ITEM) send(word(12, Buffer.from([byte])))", 1, False)
sends("garbage", "send(word(12, Buffer.concat([ITEM, Buffer.from('garbage')])))", 1, True)
sends("half an item", "send(word(12, ITEM.subarray(3)))", 0, True)
sends("a hundred thousand words", "const w = word(12, ITEM); send(Buffer.concat(Array(100000).fill(w)))", 256, False, ("display",))
result = sends("a flood past the cap", "const w = word(12, Buffer.alloc(100000)); for (;;) send(w)", 0, True, ("display",), "output_limit",
               limits={"display_bytes": 1 << 20})
eq((result["evidence"]["limit"], result["evidence"]["read_bytes"]), ("display_bytes", 1 << 20), "is killed at that byte")
result = sends("with truncate it runs on", "send(word(12, ITEM)); const w = word(12, Buffer.alloc(100000, 0x81)); for (let i = 0; i < 50; i++) send(w)",
               1, True, ("display",), limits={"display_bytes": 1 << 20}, on_output_limit="truncate")
result = run(WORD + "for (let i = 0; i < 100; i++) try { send(word(12, Buffer.alloc(0))) } catch {}\ntry { send(word(12, ITEM)) } catch {}")
eq((result["outcome"], result["display"]), ("ok", []), "many words without a body end the conversation, and nothing else")
result = run(WORD + "send(word(6, Buffer.alloc(0)));\nsend(word(12, ITEM));\nfor (;;);")
ok(result["outcome"] in ("ok", "cpu_limit", "wall_limit") and not result["display"], "what follows a forged end is not heard", result)
result = run("require('fs').closeSync(3); display(1)")
eq((result["ok"], result["display"]), (False, []), "a program that has closed the socket cannot display")
for language, code in ("javascript", WORD + "send(word(12, ITEM))"), ("bash", "printf '\\x01\\x44\\x45\\x43' >&3 || true"):
    result = client.call("run", language=language, code=code, limits=ROOMY)
    eq("display" in result, False, f"a plain run of {language} that sends words has no display")
ok(client.run("print(1)")["stdout"] == "1\n", "the daemon goes on")

done()
