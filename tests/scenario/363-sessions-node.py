"""What users of sessions of node expect."""

from wire import Client, done, eq, ok, wait_until

client, second = Client(), Client()
LONG = {"wall_ms": 60000, "cpu_ms": 60000}


def answer(method, **params):
    return client.receive(client.send(method, **params))


def opened(**params):
    limits = {**LONG, **params.pop("limits", {})}
    return client.call("session.open", language="javascript", limits=limits, **params)["session"]


def close(session):
    return client.call("session.close", session=session)


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" else result


def sessions():
    return {session["session"]: session for session in second.call("session.list")["sessions"]}


def refused(error):
    data = (error or {}).get("data") or {}
    return (error or {}).get("code"), data.get("pointer"), data.get("reason")


# ---- what stays ----------------------------------------------------------------------------------

told = client.call("session.open", language="js", labels={"a": "b"}, env={"WHO": "me"}, limits=LONG)
eq((told["language"], told["not_kept"]), ("javascript", "threads"), "session.open says that no state is kept, and why")
session = told["session"]
one = cell(session, "let x = 41; const y = 1; var v = 1; function f() { return x } class A { m() { return 7 } }\nconsole.log(process.env.WHO)")
eq((one["outcome"], one["stdout"], one["stderr"]), ("ok", "me\n", ""), "the first cell runs")
eq([one["session"][key] for key in ("id", "cell", "from", "state", "kept")], [session, 1, 0, 1, []], "its result names the session, the cell and the state")
two = cell(session, "x += y; console.log(x, f(), new A().m(), v)")
eq((two["stdout"], two["metrics"]["warm"]), ("42 42 7 1\n", True), "let, const, var, functions and classes stay")
eq(printed(session, "let x = 'again'; const y = 2; class A { m() { return 8 } }; console.log(x, y, new A().m())"), "again 2 8\n", "and may be declared again")
eq(printed(session, "console.log(f())"), "again\n", "functions see what was declared again")
cell(session, "const { basename } = require('path'); const fs = await import('node:fs'); const later = await Promise.resolve(5)")
eq(printed(session, "console.log(basename('/a/b'), typeof fs.readFileSync, later)"), "b function 5\n", "require, await import() and await work at the top, and stay")
cell(session, "export_ = 1; fs.writeFileSync('lib.mjs', 'export const twice = (a) => a + a'); fs.writeFileSync('lib.js', 'exports.three = 3')")
eq(printed(session, "console.log((await import('./lib.mjs')).twice('ab'), require('./lib.js').three)"), "abab 3\n", "files of the session are modules")
eq(printed(session, """
const says = 'import("x")', shape = `import(${'import(y)'})`, match = /import(z)/; // import(c)
const own = { import(a) { return 'method ' + a } };
class B { import(a) { return a } static async import (a) { return a } }
console.log(says, shape, match.source, own.import(1), new B().import(2), own?.import(3), await B.import(4));
console.log(typeof (await import
  ('node:fs')).readFileSync);"""), 'import("x") import(import(y)) import(z) method 1 2 method 3 4\nfunction\n', "only calls of import() are taken for ones")
eq(printed(session, "console.log(__filename, __dirname, require.main === module, process.argv.length, process.mainModule === module)"),
   f"/work/cell-{sessions()[session]['cells']}.js /work true 2 true\n", "what a script gets is there")
eq(printed(session, "#!/usr/bin/env node\n'use strict';\nconsole.log((function () { return this })())"), "undefined\n", "a cell may begin as a script does")
eq(printed(session, "process.chdir('/tmp'); console.log(process.cwd())"), "/tmp\n", "a cell goes to another folder")
eq(printed(session, "console.log(process.cwd(), fs.readFileSync('/work/in.txt', 'utf8'), process.argv.slice(1))",
           files=[{"path": "in.txt", "data": "sent"}], args=["p", "q"]),
   f"/tmp sent [ '/work/cell-{sessions()[session]['cells']}.js', 'p', 'q' ]\n", "files and arguments are each cell's")
eq(printed(session, "process.chdir('/work'); console.log(fs.readFileSync('in.txt', 'utf8'), process.argv.length)", files=[{"path": "in.txt", "data": "anew"}]),
   "anew 2\n", "and replace those of an earlier one")
eq(printed(session, "console.log(fs.readFileSync(0, 'utf8'))", stdin="one"), "one\n", "stdin is the cell's")
eq(printed(session, "for await (const part of process.stdin) console.log(String(part))", stdin="two"), "two\n", "as a stream")
eq(printed(session, "for await (const part of process.stdin) console.log(String(part))\nconsole.log('none')"), "none\n", "and empty without one")
eq(printed(session, "for await (const part of process.stdin) console.log(JSON.parse(part).k)", input={"k": 7}), "7\n", "input comes on stdin")
made = cell(session, "fs.writeFileSync('a.out', 'A')", artifacts=["*.out"])
eq([a["path"] for a in made["artifacts"]], ["a.out"], "artifacts are collected while the session stands still")
out = cell(session, "console.log('out'); console.error('err')")
eq((out["stdout"], out["stderr"]), ("out\n", "err\n"), "both streams are the cell's")
client.notices.clear()
cell(session, "console.log('streamed')", stream=True)
ok(any(notice[0] == "run.output" and "streamed" in str(notice[1]) for notice in client.notices), "stream works in a cell", client.notices)
eq(cell(session, "console.log('{\"a\": 1}')", output="json", schema={"type": "object", "required": ["a"]}).get("value"), {"a": 1}, "a cell's output can be JSON with a schema")
big = cell(session, "process.stdout.write('x'.repeat(700000)); process.stderr.write('y'.repeat(200000))")
eq((big["stdout_bytes"] if "stdout_bytes" in big else len(big["stdout"]), len(printed(session, "console.log(1)"))), (700000, 2), "much output is whole, and none is left for the next cell")
eq(printed(session, "let fire; const fired = new Promise((done) => { fire = done }); setTimeout(() => { console.log('fired'); fire() }, 1000)"), "", "a timer is left")
eq(printed(session, "await fired; console.log('and on')"), "fired\nand on\n", "a timer that is left fires in the time of a later cell")
before = sessions()[session]["cells"]
client.call("check", session=session, code="x = 99")
eq((sessions()[session]["cells"], printed(session, "console.log(x)")), (before, "again\n"), "check runs nothing")
shown = sessions()[session]
ok(shown["language"] == "javascript" and shown["not_kept"] == "threads" and shown["kept"] == [] and shown["memory_bytes"] > 1 << 20,
   "session.list shows it", shown)

# ---- errors --------------------------------------------------------------------------------------


def failing(code, outcome, **hoped):
    bad = cell(session, code)
    found = {key: bad["error"].get(key) for key in hoped} if bad["error"] else None
    eq((bad["outcome"], found, bad["session"]["state"]), (outcome, hoped or None, bad["session"]["cell"]), f"{code!r} fails, and the session goes on")
    return bad


def as_run(code):
    """The error of a plain run of the same program."""
    keys = "type", "message", "line", "column", "text", "syntax"
    plain = client.call("run", language="javascript", code=code, limits=LONG)
    mine = cell(session, code)
    eq((mine["outcome"], mine["exit_code"], {key: mine["error"][key] for key in keys}),
       (plain["outcome"], plain["exit_code"], {key: plain["error"][key] for key in keys}), f"{code!r} fails as in a run")


as_run("throw new TypeError('no')")
as_run("\nfunction g() {\n  null.x\n}\n  g()")
as_run("Promise.reject(new RangeError('lost'))")
as_run("throw 'text'")
as_run("JSON.parse('{')")
as_run("let q = 1;\nlet = 5 5")
bad = failing("y = 1;\nf2()", "exception", type="TypeError", line=1)
ok("Assignment to constant variable" in bad["stderr"] and "y = 1;\n" in bad["stderr"] and "cells.js" not in bad["stderr"] and "inspector" not in bad["stderr"],
   "stderr shows the place, and nothing of ours", bad["stderr"])
place = cell(session, "function deep() {\n  throw new Error('deep')\n}")["session"]["cell"]
failing("1\ndeep()", "exception", type="Error", line=2, file=f"cell-{place}.js")
failing("await 1\nawait Promise.reject(new Error('awaited'))", "exception", type="Error", line=2)
bad = failing("import fs2 from 'fs'", "syntax_error", type="SyntaxError", line=1)
ok("use await import()" in bad["error"]["message"] and "use await import()" in bad["stderr"], "an import statement is refused with what to do", bad["error"])
failing("let open = (\n", "syntax_error", type="SyntaxError", line=2)
for code, line in ("console.log('printed'); return", 1), ("1\nawait 1; return 5", 2), ("console.log('printed')\nawait = 5", 2), ("let await = 1", 1), ("function await() {}", 1):
    bad = failing(code, "syntax_error", type="SyntaxError", line=line)
    eq((bad["stdout"], bad["ran"]), ("", "unknown"), "nothing of it ran")
fresh = opened()
eq((lambda bad: (bad["outcome"], bad["ran"]))(cell(fresh, "console.log('printed'); return")), ("syntax_error", "no"), "in a first cell that is sure")
close(fresh)
for code in ("#!/usr/bin/env node\nawait null", "const o = {await: 1}; function r() { return o.await }; if (r() !== 1) throw 1 // await", "async () => { await 1; return 2 }",
             "for await (const a of [1]) await a", "throw_ = 'await'; let undefined_ = 1; /* await */"):
    eq(printed(session, code), "", f"{code!r} runs")
failing("await import('./none.js')", "exception", type="Error")
stuck = cell(session, "await new Promise(() => {})")
eq((stuck["outcome"], stuck["exit_code"]), ("exit", 13), "an await that nothing can end is over at once, as in a module")
failing("setTimeout(() => { throw new Error('late') }, 1)\nawait new Promise((done) => setTimeout(done, 1000000))", "exception", type="Error", line=1)
eq((cell(session, "process.exitCode = 3")["exit_code"], cell(session, "1")["exit_code"]), (3, 0), "an exit code is each cell's")
eq(printed(session, "process.on('uncaughtException', (error) => console.log('own', error.message)); setTimeout(() => { throw new Error('mine') }, 1);"
           "await new Promise((done) => setTimeout(done, 100)); process.removeAllListeners('uncaughtException')"), "own mine\n", "a program may handle such errors itself")
failing("Promise.reject(new Error('again'))", "exception", type="Error")
eq(printed(session, "console.log(x)"), "again\n", "after all these the session has what it had")

# ---- no states -----------------------------------------------------------------------------------

error, _ = answer("session.rollback", session=session, state=1)
eq((error["code"], "threads" in error["message"]), ("conflict", True), "a rollback is refused with the reason")
error, _ = answer("run", session=session, code="1", **{"from": 1})
eq(refused(error), ("conflict", "/from", "state"), "and so is a cell from an earlier state")
ok("threads" in error["message"], "which says why", error)
error, _ = answer("run", session=session, code="1", atomic=True)
eq(refused(error), ("conflict", "/atomic", "state"), "and so is one that could not be undone")
for key, value in (("policy", "observe"), ("env", {"A": "b"}), ("entrypoint", "x.js"), ("deterministic", True), ("language", "python")):
    error, _ = answer("run", session=session, code="1", **{key: value})
    eq(refused(error), ("bad_request", "/" + key, "conflict"), f"a cell with {key} is refused")
eq(printed(session, "console.log(x)"), "again\n", "the session goes on after refusals")

# ---- the record ----------------------------------------------------------------------------------

client.notices.clear()
cells = sessions()[session]["cells"]
last = cell(session, "console.log('last')")
page = client.call("runs.list", session=session, limit=1)
eq([(run["run_id"], run["cell"]) for run in page["runs"]], [(last["run_id"], cells + 1)], "runs.list finds the cells of a session")
error, _ = answer("runs.replay", run_id=last["run_id"])
eq((error["code"], "cell of a session" in error["message"]), ("conflict", True), "a cell is not replayed alone")
once = [cell(session, "globalThis.n = (globalThis.n ?? 0) + 1; console.log(n)", id="once")["stdout"] for _ in range(2)]
eq((once, printed(session, "console.log(n)")), (["1\n", "1\n"], "1\n"), "a repeat is told the record and runs nothing")
close(session)
eq([(notice[1][0]["session"], notice[1][0]["why"]) for notice in client.notices if notice[0] == "session.ended"], [(session, "closed")], "who opened it is told when it ends")
eq(refused(answer("run", session=session, code="1")[0]), ("not_found", "/session", "ended"), "then a cell is refused")

# ---- limits --------------------------------------------------------------------------------------


def killed(name, outcome, code, **params):
    mine = opened(**params.pop("opening", {}))
    cell(mine, "let x = 1")
    client.notices.clear()
    result = cell(mine, code, **params)
    eq((result["outcome"], result["session"]["state"], result["session"].get("why")), (outcome, None, "killed"), f"{name} ends the session, and is told")
    ok(wait_until(lambda: client.call("hello") and any(n[0] == "session.ended" and n[1][0]["session"] == mine for n in client.notices)), f"{name} is notified")
    eq(refused(answer("run", session=mine, code="1")[0]), ("not_found", "/session", "ended"), f"after {name} it is gone")
    return result


killed("the time limit", "wall_limit", "while (true);", limits={"wall_ms": 400})
killed("an await for long", "wall_limit", "await new Promise((done) => setTimeout(done, 1e6))", limits={"wall_ms": 400})
killed("the cpu limit", "cpu_limit", "while (true);", limits={"cpu_ms": 300})
killed("too much memory", "memory_limit", "const all = []; while (true) all.push(Buffer.alloc(1 << 20, 1))", opening={"limits": {"memory_bytes": 192 << 20}})
killed("too much output", "output_limit", "while (true) console.log('x'.repeat(1000))", limits={"stdout_bytes": 5000})
killed("a signal", "signal", "process.kill(process.pid, 'SIGKILL')")
eq(killed("process.exit()", "exit", "process.exit(4)")["exit_code"], 4, "with its exit code")
eq(killed("process.exit(0)", "ok", "console.log('bye'); process.exit()")["stdout"], "bye\n", "with its output")
killed("an abort", "signal", "process.abort()")

session = opened(limits={"cpu_ms": 20000})
busy = cell(session, "const until = Date.now() + 1000; while (Date.now() < until);")
idle = cell(session, "1")
cpu = [result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"] for result in (busy, idle)]
ok(cpu[1] < cpu[0], "the cpu time of a cell is its own", cpu)
cut = cell(session, "for (let i = 0; i < 10000; i++) console.log(i)", limits={"stdout_bytes": 100}, on_output_limit="truncate")
eq((cut["outcome"], cut["truncated"]), ("ok", ["stdout"]), "output can be cut")
fine = cell(session, "console.log(5)")
eq((fine["stdout"], fine["truncated"]), ("5\n", []), "in that cell alone")
large = cell(session, "let a = Buffer.alloc(60 << 20, 1); a = null")
ok(large["metrics"]["memory_peak_bytes"] > 60 << 20, "memory is counted", large["metrics"])
close(session)

# ---- turns ---------------------------------------------------------------------------------------

session = opened()
cell(session, "const seen = []")
sent = [client.send("run", session=session, code=f"seen.push({n}); console.log(seen.join()); await null") for n in range(4)]
eq([client.receive(msgid)[1]["stdout"] for msgid in sent], ["0\n", "0,1\n", "0,1,2\n", "0,1,2,3\n"], "cells that come at once take turns")
sent = client.send("run", session=session, code="await new Promise((done) => setTimeout(done, 1e6))")
ok(wait_until(lambda: sessions()[session]["busy"]), "a cell runs")
second.call("session.close", session=session)
result = client.receive(sent)[1]
eq((result["outcome"], result["session"]["state"], result["session"]["why"]), ("canceled", None, "closed"), "closing cancels the cell that runs")
session = opened()
running = client.call("run", session=session, code="await new Promise((done) => setTimeout(done, 1e6))", detach=True)["run_id"]
ok(wait_until(lambda: sessions()[session]["busy"]), "a cell runs detached")
second.call("cancel", run_id=running)
result = second.call("wait", run_id=running)
eq((result["outcome"], result["session"]["state"], result["session"]["went_back"]), ("canceled", 0, 0), "when the first cell is cancelled, the session begins anew")
eq(printed(session, "console.log(7)"), "7\n", "and goes on")
second.call("session.close", session=session)
session = opened(policy="strict")
eq(printed(session, "let x = 1; console.log(x)"), "1\n", "a harmless cell runs under strict")
denied = cell(session, "require('child_process').execSync('id')")
eq((denied["outcome"], denied["ran"]), ("policy_denied", "no"), "each cell is read")
eq(printed(session, "console.log(x)"), "1\n", "and a denied one leaves the session as it was")
close(session)
eq(sessions(), {}, "no session is left")
done()
