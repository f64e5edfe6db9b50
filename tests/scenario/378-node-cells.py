"""Cells of node display values and call tools; each cell for itself, whatever an earlier one has left."""

from toolbox import Failed, Silence, Toolbox, tool
from wire import Client, done, eq, ok

box = Toolbox()
PATIENT = {"wall_ms": 60000, "cpu_ms": 60000, "calls_ms": 60000, "call_ms": 30000}


def opened(**params):
    return box.call("session.open", language="javascript", limits=PATIENT, **params)["session"]


def close(session):
    box.call("session.close", session=session)


def cell(session, code, tools=None, functions=None, **params):
    if tools:
        params["tools"] = tools
    params["limits"] = {**PATIENT, **params.get("limits", {})}
    for key in "memory_bytes", "pids":
        params["limits"].pop(key, None)
    box.calls.clear()
    return box.finish(box.send("run", code=code, session=session, **params), functions)


def outcome(result):
    return result["outcome"], result["stdout"]


def shown(result):
    return [(item["main"], item["data"]) for item in result["display"]]


def texts(result):
    return [item["data"].get("text/plain") for item in result["display"]]


def failure(result):
    return result["outcome"], (result.get("error") or {}).get("message")


# ---- displays ------------------------------------------------------------------------------------

session = opened()
eq(cell(session, "let x = 41; x").get("display"), None, "a cell that does not display has none")
eq(shown(cell(session, "x + 1", display=True)), [(True, {"text/plain": "42"})], "the next one displays the value of its last expression")
eq(texts(cell(session, "display('a', x)\nx", display=True)), ["'a'", "41", "41"], "and what it is told to")
eq(shown(cell(session, "display.mime({'text/html': '<b>', 'image/png': Buffer.from([1, 2]), 'application/json': {a: 1}}); undefined", display=True)),
   [(False, {"text/html": "<b>", "image/png": b"\x01\x02", "application/json": {"a": 1}})], "a bundle of types")
eq(outcome(cell(session, "display('lost'); display.mime({'text/html': 'lost'}); console.log('on')")), ("ok", "on\n"),
   "in a cell that does not display, what is displayed goes nowhere")
eq(texts(cell(session, "display('found')", display=True)), ["'found'"], "and not into the next")
cell(session, "const keep = display; function show() { keep('kept') }", display=True)
eq(texts(cell(session, "show()", display=True)), ["'kept'"], "a function of an earlier cell displays in the cell that calls it")
for name, code in (
    ("a number", "6 * 7"), ("a text", "'a'"), ("null", "null"), ("undefined", "undefined"), ("a negative zero", "-0"), ("no number", "NaN"),
    ("a bigint", "[1n]"), ("a large one", "123456789012345678901234567890n"), ("a symbol", "Symbol('s')"), ("an object", "({a: [1, 2.5, null]})"),
    ("an array", "[1, 'x']"), ("an object of a class", "new Map([[1, 2]])"), ("a cycle", "const cycle = {}; cycle.a = cycle; cycle"),
    ("a function", "(function named() {})"), ("a declaration", "const declared = 1;"), ("a condition", "if (true) 3"), ("a loop", "for (let i = 0; i < 3; i++) i"),
    ("a promise that is fulfilled", "(async () => { await null; return 'late' })()"), ("a promise of nothing", "(async () => {})()"),
    ("a promise that a timer fulfils", "new Promise((done) => setTimeout(done, 50, 'timed'))"), ("a promise that nothing fulfils", "new Promise(() => {})"),
    ("an object with a way to be inspected", "({[require('util').inspect.custom]: () => 'own'})"),
    ("one that cannot be inspected", "({get [Symbol.toStringTag]() { throw 5 }})"), ("a proxy that throws", "new Proxy({}, {getPrototypeOf() { throw new Error('trap') }})"),
    ("a promise that is rejected", "(async () => { throw new Error('late') })()"), ("an exception", "display(1); throw new Error('bad')"),
):
    plain = box.call("run", language="javascript", code=code, display=True, limits=PATIENT)
    mine = cell(session, code, display=True)
    eq((mine["outcome"], mine["exit_code"], shown(mine), failure(mine)), (plain["outcome"], plain["exit_code"], shown(plain), failure(plain)),
       f"{name} is displayed as in a run")
eq(texts(cell(session, "await Promise.resolve('awaited')", display=True)), ["'awaited'"], "a cell that awaits")
eq(len(texts(cell(session, "'x'.repeat(3000000)", display=True))[0]) <= 1 << 20, True, "a text has at most a mebibyte")
large = cell(session, "display.mime({'image/png': Buffer.alloc(3000000, 7)})", display=True)
eq(large["display"][0]["data"]["image/png"], bytes([7]) * 3000000, "a large picture is whole")
cut = cell(session, "display('first'); display.mime({'image/png': Buffer.alloc(3000000, 7)}); 0", display=True,
           limits={"display_bytes": 100000}, on_output_limit="truncate")
eq((cut["outcome"], texts(cut)[0], cut["truncated"]), ("ok", "'first'", ["display"]), "past the cap it is cut")
eq(texts(cell(session, "'whole'", display=True)), ["'whole'"], "in that cell alone")
box.notices.clear()
cell(session, "display('streamed'); 1", display=True, stream=True)
eq([notice[1][0]["data"]["text/plain"] for notice in box.notices if notice[0] == "run.display"], ["'streamed'", "1"], "it is streamed")
first = box.call("run", session=session, code="display('kept'); 5", display=True, limits=PATIENT)
again = box.call("runs.get", run_id=first["run_id"])
ok("kept" in str(again), "it is in the record", again)
flood = cell(session, "for (;;) display('x'.repeat(1000))", display=True, limits={"display_bytes": 100000})
eq((flood["outcome"], flood["evidence"]["limit"], flood["session"]["state"]), ("output_limit", "display_bytes", None), "a flood ends its session")

# ---- tools ---------------------------------------------------------------------------------------


def add(a, b):
    return a + b


def lose(**_):
    raise Failed("no luck", {"rest": 3})


def silent(**_):
    raise Silence


NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
ADD = [tool("add", NUMBERS)]
BOTH = [tool("add", NUMBERS), tool("lose")]
SLOW = [tool("add", NUMBERS), tool("silent", timeout_ms=300)]
FUNCTIONS = {"add": add, "lose": lose, "silent": silent}
GONE = "gone: the cell to which this tool was offered is over: in each cell, take it from `tools` again"

session = opened()
eq(outcome(cell(session, "console.log(typeof tools)")), ("ok", "undefined\n"), "a cell without tools has no such name")
result = cell(session, "console.log(await tools.add({a: 20, b: 22}), await codemode.add(1, 2))", ADD, FUNCTIONS)
eq((outcome(result), result["calls"]["by_tool"]), (("ok", "42 3\n"), {"add": 2}), "a later cell calls a tool")
eq([call["args"] for call in box.calls], [{"a": 20, "b": 22}, {"a": 1, "b": 2}], "its client is asked")
eq([row["tool"] for row in box.record(result)], ["add", "add"], "and the record has it")
eq(outcome(cell(session, "console.log(tools.add.sync(4, 5))", ADD, FUNCTIONS)), ("ok", "9\n"), "a call may block")
eq(outcome(cell(session, "const later = tools.add(1, 1); console.log(tools.add.sync(2, 2), await later)", ADD, FUNCTIONS)), ("ok", "4 2\n"), "while another one waits")
eq(outcome(cell(session, "console.log(typeof tools, typeof codemode, typeof ToolError)")), ("ok", "undefined undefined undefined\n"), "the names go with their cell")
eq(outcome(cell(session, "console.log(add(1, 2), typeof ToolError)", ADD, FUNCTIONS, tools_as="functions")), ("ok", "3 function\n"), "as functions")
eq(outcome(cell(session, "console.log(await add(4, 5))", ADD, FUNCTIONS, tools_as="async")), ("ok", "9\n"), "as functions that are awaited")
eq(outcome(cell(session, "console.log(typeof add)")), ("ok", "undefined\n"), "they go, too")
eq(texts(cell(session, "tools.add(6, 7)", ADD, FUNCTIONS, display=True)), ["13"], "with display")
lost = cell(session, "\nawait tools.lose()", BOTH, FUNCTIONS)
eq((failure(lost), lost["error"]["type"], lost["error"]["line"]), (("exception", "failed: no luck"), "ToolError", 2), "a failure that nobody catches ends the cell, and has its place")
ok("data: { rest: 3 }" in lost["stderr"] and "tools.js" not in lost["stderr"], "stderr shows it, and nothing of ours", lost["stderr"])
eq(outcome(cell(session, "try { tools.lose.sync() } catch (error) { console.log(error instanceof tools.ToolError, error.code, error.reason, error.data.rest) }", BOTH, FUNCTIONS)),
   ("ok", "true failed no luck 3\n"), "one that is caught does not")
eq(outcome(cell(session, "async function sum(n) { return (await tools.add(n, n)) + 1 }\nconsole.log(await sum(2))", ADD, FUNCTIONS)), ("ok", "5\n"), "a function that uses a tool")
eq(outcome(cell(session, "console.log(await sum(3))", ADD, FUNCTIONS)), ("ok", "7\n"), "uses that of the cell that calls it")
eq(outcome(cell(session, "await sum(3).catch((error) => console.log(error.name))")), ("ok", "ReferenceError\n"), "or finds none")
eq(outcome(cell(session, "tools.add(1, 2).then((told) => { console.log('told', told) })\nconsole.log('left')", ADD, FUNCTIONS)), ("ok", "left\ntold 3\n"),
   "a cell ends when its calls are answered")
chain = cell(session, "(async () => { for (let n = 0; n < 5; n++) console.log(await tools.add(n, n)) })(); undefined", ADD, FUNCTIONS)
eq((outcome(chain), chain["calls"]["count"]), (("ok", "0\n2\n4\n6\n8\n"), 5), "also those that follow from an answer")
limited = cell(session, "const codes = []\nfor (let n = 0; n < 3; n++) await tools.add(n, 0).then(() => codes.push('made'), (error) => codes.push(error.code))\nconsole.log(codes.join())",
               ADD, FUNCTIONS, limits={"calls": 2})
eq(outcome(limited), ("ok", "made,made,too_many\n"), "a limit on calls")
eq(cell(session, "for (let n = 0; n < 3; n++) await tools.add(n, 0)", ADD, FUNCTIONS)["calls"]["count"], 3, "counts anew in each cell")
slow = cell(session, "tools.silent().catch((error) => console.log(error.code)); undefined", SLOW, FUNCTIONS)
eq((outcome(slow), slow["calls"]["failed"]), (("ok", "timeout\n"), 1), "a call that nobody answers ends with its time, and the cell with it")
thrown = cell(session, "setTimeout(() => { throw new Error('late') }, 1)\nfor (;;) await tools.add(1, 1)", ADD, FUNCTIONS, limits={"calls": 4000})
eq(failure(thrown), ("exception", "late"), "a cell that fails makes no more calls")
endless = cell(session, "const again = () => tools.add(1, 1).then(again, () => {}); again(); undefined", ADD, FUNCTIONS, limits={"calls": 20})
eq((endless["outcome"], endless["calls"]["count"]), ("ok", 20), "calls that never end are ended by their limit")
eq(outcome(cell(session, "tools = 5; console.log(tools)", ADD, FUNCTIONS)), ("ok", "5\n"), "a program may give the name to something else")
eq(outcome(cell(session, "console.log(tools)")), ("ok", "5\n"), "and keeps that")
eq(outcome(cell(session, "console.log(await tools.add(2, 3))", ADD, FUNCTIONS)), ("ok", "5\n"), "until tools are offered again")
late = cell(session, "await tools.silent()", [tool("silent")], FUNCTIONS, limits={"calls_ms": 300})
eq((late["outcome"], late["session"]["state"]), ("wall_limit", None), "waiting for too long ends the session")

# ---- what an earlier cell has left ---------------------------------------------------------------

CODE = "const code = (promise) => promise.then((told) => 'told ' + told, (error) => error.code ?? String(error))"
session = opened()
cell(session, f"{CODE}\nconst kept = tools.add, keptSync = tools.add.sync, all = tools", ADD, FUNCTIONS)
result = cell(session, "try { keptSync(1, 1) } catch (error) { console.log(error.message) }\nconsole.log(await code(kept(1, 1)), await code(all.add(1, 1)), await tools.add(1, 1))",
              ADD, FUNCTIONS)
eq((outcome(result), result["calls"]["count"], len(box.calls)), (("ok", f"{GONE}\ngone gone 2\n"), 1, 1),
   "a function that an earlier cell was offered calls nobody, though the same tool is offered")
result = cell(session, "console.log(await code(kept(1, 1)))")
eq((outcome(result), box.calls), (("ok", "gone\n"), []), "nor does it without tools")
cell(session, "const own = tools.add, told = []; let isDue = false; const timer = setInterval(() => { if (isDue) told.push(code(own(5, 5))) }, 1)", ADD, FUNCTIONS)
result = cell(session, "isDue = true; while (!told.length) await new Promise((done) => setTimeout(done, 1)); clearInterval(timer); console.log(await told[0])", ADD, FUNCTIONS)
eq((outcome(result), result["calls"]["count"], len(box.calls), box.record(result)), (("ok", "gone\n"), 0, 0, []),
   "a timer of an earlier cell calls nobody in a later one's name")
cell(session, "let go; const gate = new Promise((done) => { go = done }); const promised = gate.then(() => code(own2(6, 6))); const own2 = tools.add", ADD, FUNCTIONS)
result = cell(session, "go(); console.log(await promised, await tools.add(1, 2))", ADD, FUNCTIONS)
eq((outcome(result), result["calls"]["count"]), (("ok", "gone 3\n"), 1), "nor does a promise")

SAY = """
var { writeSync } = require('fs');
var word = (kind, code = 0, body = '') => {
  const head = Buffer.alloc(16);
  [0x43454401, kind, Buffer.byteLength(body)].forEach((value, i) => head.writeUInt32LE(value, 4 * i));
  head.writeInt32LE(code, 12);
  return Buffer.concat([head, Buffer.from(body)]);
};
var say = (...words) => writeSync(3, Buffer.concat(words));
var calling = (number) => word(9, number, 'add\\0{"a":100,"b":100}');
"""
BEGUN, ERROR, DONE, DISPLAY = 4, 5, 6, 12


def another(session):
    """A new session: after a forged word, nobody knows how long the old one goes on."""
    if any(one["session"] == session for one in box.call("session.list")["sessions"]):
        box.receive(box.send("session.close", session=session))
    again = opened()
    cell(again, f"{CODE}\n{SAY}")
    return again


def after(session, code, tools, name, **params):
    """The result of a cell after a forged word, or None: the session has ended."""
    try:
        result = cell(session, code, tools, FUNCTIONS, **params)
    except RuntimeError as error:
        print(f"# {name}: {error}")
        return None
    print(f"# {name}: {result['outcome']}, {result['reason']}")
    ok(result["outcome"] == "ok" or "an earlier cell has changed it" in result["reason"], f"{name}: a cell that cannot begin is told why", result)
    return result


cell(session, SAY)
result = cell(session, f"say(word({DONE}), calling(1), calling(2), word({BEGUN}), calling(3))", ADD, FUNCTIONS)
eq((result["outcome"], result["calls"]["count"]), ("ok", 3), "a forged end without its cell's number ends nothing, and calls behind it are that cell's")
result = after(session, "1", ADD, "a forged end")
ok(not box.calls and (not result or (result["calls"]["count"], box.record(result)) == (0, [])), "nor in the name of the next cell", result)
session = another(session)

result = cell(session, f"const pending = code(tools.silent()); say(word({DONE})); await pending", SLOW, FUNCTIONS)
eq((result["outcome"], [row["code"] for row in box.record(result)]), ("ok", ["timeout"]), "a call that waits at a forged end goes on waiting")
old, number = result["run_id"], 1  # its client may not have heard of it
error, _ = box.receive(box.send("call.reply", run_id=old, call=number, result="forged"))
ok(error, "its answer is refused when its cell is over", error)
result = after(session, "console.log(await tools.add(1, 1))", ADD, "a call that waited")
ok(not result or ("forged" not in result["stdout"] and {row["tool"] for row in box.record(result)} <= {"add"}), "and its promise does not go on in the next one's name", result)
session = another(session)

cell(session, "const numbers = [await tools.add(1, 1)]; var took = code(tools.silent())", SLOW, FUNCTIONS)
result = cell(session, "console.log(await took, await tools.add(2, 2), await tools.add(3, 3))", ADD, FUNCTIONS)
eq(outcome(result), ("ok", "timeout 4 6\n"), "a promise of an earlier cell has its own answer, whatever the number of another call")

cell(session, "let forge; const forged = new Promise((done) => { forge = done }).then(() => say(calling(1), calling(1)))")
result = cell(session, "forge(); await forged; console.log(await tools.add(2, 2))", ADD, FUNCTIONS)
eq((outcome(result), result["calls"]["count"], [row["tool"] for row in box.record(result)]), (("ok", "4\n"), 3, ["add"] * 3),
   "calls that a program writes itself are counted and recorded for the cell in whose time they come")
eq([call["args"]["a"] for call in box.calls], [100, 100, 2], "with what they ask for")
session = another(session)
result = cell(session, "say(calling(1)); console.log('on')")
eq((outcome(result), box.calls, result.get("calls")), (("ok", "on\n"), [], None), "where no tools are offered, they are not made")

result = cell(session, f"say(word({DISPLAY}, 0, 'x')); console.log('on')")
eq((outcome(result), result.get("display")), (("ok", "on\n"), None), "where nothing is displayed, words to display mean nothing")
cell(session, f"say(word({DONE}), word({DISPLAY}, 0, Buffer.from('\\x81\\xa4data\\x81\\xaatext/plain\\xa1x', 'latin1')))")
result = after(session, "1", None, "a display behind the end", display=True)
ok(not result or set(texts(result)) <= {"1"}, "what is displayed behind a forged end is not in the next cell", result)
session = another(session)
cell(session, """
const { Worker } = require('worker_threads');
const worker = new Worker(`const { writeSync } = require('fs'); const { workerData } = require('worker_threads');
for (;;) try { writeSync(3, workerData) } catch {}`, { eval: true, workerData: new Uint8Array(calling(1)) });
await new Promise((done) => worker.on('online', done));
""")
for _ in range(2):
    error, result = box.receive(box.send("run", session=session, code="1", limits={**PATIENT, "wall_ms": 5000}))
    if error:
        break
    ok(not result.get("calls") and not box.calls, "a thread that floods the socket with calls has none in a cell without tools", result.get("calls"))
session = another(session)
for code in ("JSON.parse = JSON.stringify = () => { throw 1 }", "Map.prototype.get = Map.prototype.set = () => { throw 2 }", "Object.freeze(globalThis)",
             "Promise.prototype.then = () => { throw 3 }", "Object.defineProperty(globalThis, 'tools', { get() { throw 4 }, set() { throw 4 } })",
             "Array.prototype[Symbol.iterator] = null", "Buffer.concat = Buffer.alloc = Buffer.from = () => { throw 5 }",
             "require('net').Socket = class { constructor() { throw 6 } }", "require('fs').closeSync(3)"):
    mine = opened()
    error, first = box.receive(box.send("run", session=mine, code=code, limits=PATIENT))
    ok(error is None and first["outcome"] != "sandbox_error", f"{code[:60]!r} is a cell", (error, first))
    msgid = box.send("run", session=mine, code="await tools.add(1, 1)", tools=ADD, display=True, limits={**PATIENT, "wall_ms": 10000})
    try:
        second = box.finish(msgid, FUNCTIONS)
        ok(second["outcome"] in ("ok", "exception", "exit", "wall_limit", "signal"), "and the next one is told as what it was", second)
    except RuntimeError as gone:
        ok("ended" in str(gone), "or its session has ended", gone)
    if any(one["session"] == mine for one in box.call("session.list")["sessions"]):
        close(mine)
plain = box.work("console.log(await tools.add(20, 22))", ADD, FUNCTIONS, language="javascript", limits=PATIENT)
eq(outcome(plain), ("ok", "42\n"), "a run calls tools as ever")

# ---- other clients -------------------------------------------------------------------------------

other = Client()
msgid = box.send("run", session=session, code="console.log(await tools.silent())", tools=[tool("silent")], limits=PATIENT)
call = box.wait_for_call()
error, _ = other.receive(other.send("call.reply", run_id=call["run_id"], call=call["call"], result="theirs"))
ok(error, "another connection cannot answer", error)
box.reply(call, result="mine")
eq(outcome(box.finish(msgid)), ("ok", "mine\n"), "that of the cell can")
close(session)

# ---- import() in text that is compiled later -----------------------------------------------------

session = opened()
for code in ("await eval('import(\"fs\")')", "await new Function('return import(\"fs\")')()"):
    result = cell(session, code)
    ok(result["outcome"] == "exception" and "call import() in the cell itself" in result["error"]["message"] and "call import() in the cell itself" in result["stderr"],
       f"{code!r} fails, and says what to do", result)
eq(outcome(cell(session, "console.log(typeof (await import('fs')).readFileSync)")), ("ok", "function\n"), "import() in the cell itself has a loader")
close(session)
done()
