"""Hostile cells of node.  Nothing of them runs between cells, reaches another run, or outlives the session."""

import os
import signal
import sys
import time

from still import leaves_nothing, stands_still, ticks
from wire import Client, children, command, daemon_pid, descriptors, done, eq, lives, ok, wait_until

spawner = int(sys.argv[1])
client, root = Client(), Client()
LONG = {"wall_ms": 60000, "cpu_ms": 60000}

SAY = r"""
var { writeSync } = require('fs');
var say = (kind, code = 0, body = '') => {
  const head = Buffer.alloc(16);
  [0x43454401, kind, body.length].forEach((value, i) => head.writeUInt32LE(value, 4 * i));
  head.writeInt32LE(code, 12);
  writeSync(3, Buffer.concat([head, Buffer.from(body)]));
};
"""
DONE = 6


def opened(**params):
    limits = {**LONG, **params.pop("limits", {})}
    return client.call("session.open", language="javascript", policy="observe", limits=limits, **params)["session"]


def answer(session, code, **params):
    return client.receive(client.send("run", session=session, code=code, **params))


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" else result


def sessions():
    return {session["session"] for session in root.call("session.list")["sessions"]}


def close(session):
    if session in sessions():
        client.call("session.close", session=session)


def runs_well(after):
    result = client.call("run", language="javascript", code="console.log('well')", limits=LONG)
    eq((result["outcome"], result["stdout"], result["stderr"]), ("ok", "well\n", ""), f"a run after {after} is as ever")


def pid_of(session):
    """The host's pid of the session's process."""
    name = f"cells-of-{session}"
    cell(session, f"process.title = '{name}'")
    return next(pid for pid in children(spawner) if name[:20] in command(pid))


# ---- nothing runs between cells ------------------------------------------------------------------

session = opened()
pid = pid_of(session)
stands_still(pid, "a plain session")
cell(session, "let beats = 0; const timer = setInterval(() => { beats++ }, 1)")
stands_still(pid, "a timer")
os.kill(pid, signal.SIGCONT)
stands_still(pid, "a process that somebody sends SIGCONT")
eq(printed(session, "const had = beats; await new Promise((done) => setTimeout(done, 100)); console.log(beats > had); clearInterval(timer)"), "true\n", "it goes on with the next cell")
cell(session, """
const { Worker } = require('worker_threads');
const shared = new Int32Array(new SharedArrayBuffer(8));
const worker = new Worker('const { workerData } = require("worker_threads"); for (;;) Atomics.add(workerData, 0, 1)', { eval: true, workerData: shared });
await new Promise((done) => worker.on('online', done));
""")
stands_still(pid, "a thread that computes")
counted = int(printed(session, "console.log(Atomics.load(shared, 0))"))
time.sleep(0.5)
eq(printed(session, f"while (Atomics.load(shared, 0) === {counted}); console.log('moved')"), "moved\n", "its thread goes on with the next cell")
busy_us = 0
for _ in range(20):  # a busy machine gives the thread less
    busy = cell(session, "Atomics.wait(shared, 1, 0, 1000)")["metrics"]
    busy_us += busy["cpu_user_us"] + busy["cpu_sys_us"]
    if busy_us > 100_000:
        break
ok(busy_us > 100_000, "and is on the account of the cells in which it works", busy_us)
close(session)
ok(wait_until(lambda: not lives(pid)), "and ends with the session")

session = opened()
cell(session, """
const { Worker } = require('worker_threads');
const worker = new Worker('const { writeSync } = require("fs"); for (;;) try { writeSync(1, "x".repeat(1000)) } catch {}', { eval: true });
await new Promise((done) => worker.on('online', done));
""", on_output_limit="truncate")
for _ in range(3):
    error, result = answer(session, "1", on_output_limit="truncate", limits={"stdout_bytes": 1000})
    ok(error is None and result["outcome"] in ("ok", "output_limit") and len(result["stdout"]) <= 1000 and not result["stdout"].strip("x"),
       "a thread that floods stdout is held to each cell's limit", (error, result))
    if error or result["outcome"] != "ok":
        break
if session in sessions():
    error, result = answer(session, "await new Promise((done) => setTimeout(done, 500))", limits={"stdout_bytes": 1000})
    eq((result["outcome"], result["session"]["state"]), ("output_limit", None), "or ends its session")
close(session)
runs_well("a flood")

# ---- ends ----------------------------------------------------------------------------------------

for code, outcomes in (("process.exit(3)", ("exit",)), ("process.reallyExit(3)", ("exit",)), ("process.abort()", ("signal",)),
                       ("process.on('exit', () => { for (;;); }); process.exit()", ("wall_limit",)),
                       ("process.kill(process.pid, 'SIGKILL')", ("signal",)),
                       ("setTimeout(() => process.exit(5), 1); await new Promise((done) => setTimeout(done, 1e6))", ("exit",)),
                       ("for (;;) await null", ("wall_limit",)), ("const f = () => Promise.resolve().then(f); f()", ("wall_limit", "memory_limit", "signal")),
                       ("process.kill(process.pid, 'SIGSTOP'); for (;;);", ("wall_limit", "signal", "syscall_denied")),
                       ("require('v8').setFlagsFromString('--stack-size=900000'); (function f() { f() })()", ("signal", "exception", "ok")),
                       ("require('fs').closeSync(3)", ("exit", "exception", "ok", "sandbox_error"))):
    session = opened()
    cell(session, "1")
    result = cell(session, code, limits={"wall_ms": 4000})
    ok(result["outcome"] in outcomes and (result["session"]["state"] is None or result["outcome"] in ("exception", "ok")),
       f"{code!r} is told as what it is, and ends the session", (result["outcome"], result["session"]))
    close(session)
runs_well("these ends")

# ---- late errors ---------------------------------------------------------------------------------

session = opened()
cell(session, "setTimeout(() => { throw new Error('of the past') }, 1000)")
late = cell(session, "await new Promise((done) => setTimeout(done, 1e6))")
eq((late["outcome"], late["error"]["message"], late["error"].get("file"), late["session"]["state"]), ("exception", "of the past", "cell-1.js", 2),
   "an uncaught error of an earlier cell ends the cell in which it comes, and names its own")
cell(session, "let go; const hold = new Promise((done) => { go = done })\nhold.then(() => { throw new Error('too late') })")
late = cell(session, "go(); 1")
eq((late["outcome"], late["error"]["message"]), ("exception", "too late"), "so does a promise")
eq(printed(session, "console.log('on')"), "on\n", "and the session goes on")
cell(session, "process.on('uncaughtException', () => { throw new Error('worse') })")
error, result = answer(session, "setTimeout(() => { throw new Error('bad') }, 1); await new Promise((done) => setTimeout(done, 1e6))")
eq((result["outcome"] in ("exit", "exception"), result["session"]["state"]), (True, None), "a handler that throws ends the process, and the session")

# ---- forged words --------------------------------------------------------------------------------

session = opened()
cell(session, SAY)
result = cell(session, f"say({DONE}); console.log('behind'); for (;;);", limits={"wall_ms": 10000})
ok(result["outcome"] in ("ok", "wall_limit"), "a forged word ends a cell early", result["outcome"])
if session in sessions():
    pid = next(pid for pid in children(spawner) if command(pid).startswith("/usr/bin/node") and ticks(pid) >= 0)
    error, later = answer(session, "console.log('second')", limits={"wall_ms": 1500})
    ok(error is None and later["outcome"] in ("wall_limit", "cpu_limit") and "second" not in later["stdout"], "its loop goes on in the next cell's time, and on its account", (error, later))
    eq(later["session"]["state"], None, "which ends the session")
session = opened()
cell(session, SAY)
client.receive(client.send("run", session=session, code=f"for (let n = 0; n < 50; n++) say({DONE}); console.log('x')"))
told = [answer(session, "console.log(1)", limits={"wall_ms": 10000}) for _ in range(3)]
ok(all(error or not result["stdout"].replace("x\n", "").replace("1\n", "") for error, result in told), "words that were forged ahead mix up the session's own cells at most", told)
close(session)
session = opened()
for kind in range(0, 17):
    if session not in sessions():
        session = opened()
    client.receive(client.send("run", session=session, code=SAY + f"say({kind}, 7, '{{}}'); say({kind}, -1)", limits={"wall_ms": 5000}))
    if session in sessions():
        client.receive(client.send("run", session=session, code="console.log(1)", limits={"wall_ms": 5000}))
close(session)
runs_well("forged words of every kind")
session = opened()
cell(session, "const thief = new (require('net').Socket)({ fd: 3 }); thief.on('data', (part) => console.log(part.length)); thief.on('error', () => {})", limits={"wall_ms": 5000})
if session in sessions():
    error, result = answer(session, "console.log('mine')", limits={"wall_ms": 5000})
    ok(error or result["outcome"] != "sandbox_error" or result["session"]["state"] is None, "a cell that reads the job socket itself harms its own session", (error, result))
close(session)
runs_well("that")

# ---- a scope that is turned over -----------------------------------------------------------------

for code in ("Array.prototype.filter = Array.prototype.some = Array.prototype.includes = Array.prototype.join = () => { throw 1 }",
             "String.prototype.split = String.prototype.slice = String.prototype.matchAll = () => { throw 2 }",
             "JSON.stringify = JSON.parse = Object.keys = Object.defineProperty = () => { throw 3 }",
             "Promise.prototype.then = Promise.resolve = () => { throw 4 }", "globalThis.setImmediate = globalThis.setTimeout = () => {}",
             "Function.prototype.bind = Function.prototype.call = Function.prototype.apply = () => { throw 5 }",
             "RegExp.prototype.exec = RegExp.prototype.test = RegExp.prototype[Symbol.matchAll] = () => { throw 6 }",
             "const { Session } = require('inspector'); Session.prototype.post = Session.prototype.connect = () => { throw 7 }",
             "process.on = process.emit = process.listeners = process.listenerCount = () => { throw 8 }",
             "globalThis.process = null", "delete globalThis.Buffer; globalThis.Error = null", "Object.prototype.objectId = '1.1.1'; Object.prototype.get = () => 5",
             "for (const name of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[name] } catch {}",
             "require('fs').writeSync = require('fs').readSync = () => { throw 9 }", "process.removeAllListeners()",
             "const s2 = new (require('inspector').Session)(); s2.connect(); s2.post('Debugger.enable'); s2.post('Runtime.enable'); s2.post('Runtime.terminateExecution'); 1",
             "Object.freeze(globalThis)", "$imprt = 5; globalThis.$imprt = 6"):
    session = opened()
    first = answer(session, code, limits={"wall_ms": 5000})
    ok(first[0] is None and first[1]["outcome"] != "sandbox_error", f"{code[:60]!r} is a cell", first)
    if session in sessions():
        error, second = answer(session, "1 + 1", limits={"wall_ms": 5000})
        ok(error is None and second["outcome"] in ("ok", "exception", "exit", "wall_limit", "signal") and second["run_id"],
           "and the one after it is told as what it was", (error, second))
    close(session)
session = opened()
cell(session, "RegExp.prototype.test = RegExp.prototype.exec = () => { throw 1 }")
eq(printed(session, "process.stdout.write('on')"), "on", "a cell does not need what the program has replaced")
close(session)
runs_well("all that")

# ---- what is seen inside -------------------------------------------------------------------------

session = opened()
LIST = """
var fds = [];
for (let fd = 0; fd < 256; fd++) try { require('fs').fstatSync(fd); fds.push(fd) } catch {}
console.log(fds.length, fds.slice(0, 4).join());
"""
plain = client.call("run", language="javascript", code=LIST, limits=LONG)["stdout"]
eq(printed(session, LIST), plain, "the first cell has the descriptors of a run")
for params in ({}, {"stdin": "x"}, {"files": [{"path": "f", "data": "x"}]}, {}):
    eq(printed(session, LIST, **params), plain, "and so has each later one")
held = printed(session, "var held = require('fs').openSync('/work/f'); console.log(held)").strip()
eq(printed(session, f"console.log(require('fs').readFileSync({held}, 'utf8'))"), "x\n", "a file that a cell opened is open in the next")
port = cell(session, "const inspector = require('inspector'); try { inspector.open(9229, '127.0.0.1') } catch {}\nconsole.log(inspector.url())", limits={"wall_ms": 10000})
ok("ws://" not in port["stdout"], "the debugger's interface opens no port", port)
if session not in sessions():
    session = opened()
for number in range(3):
    spawned = cell(session, "try { require('child_process').spawnSync('/usr/bin/node', ['-v']).error && console.log('none') } catch { console.log('none') }")
    eq(spawned["stdout"], "none\n", f"no program is started, in cell {number + 1} as in the first")
    dialed = cell(session, "await new Promise((done) => require('net').connect(1, '127.0.0.1').on('error', (error) => { console.log(error.code); done() }))")
    ok(dialed["stdout"] and dialed["refused_calls"], "no connection is made, and the try is told for that cell", dialed)
    quiet = cell(session, "1")
    ok(not quiet.get("refused_calls"), "and not for the next", quiet.get("refused_calls"))
eq(printed(session, "try { console.log(require('fs').readdirSync('/proc')) } catch (error) { console.log(error.code) }") in ("ENOENT\n", "EACCES\n", "[]\n"), True, "there is no /proc")
close(session)

# The workers are few: the next ones are made in the same slots.
for turn in range(2):
    mine = [opened() for _ in range(2)]
    for session in mine:
        cell(session, "globalThis.secret = 1; require('fs').writeFileSync('/work/left', 's'); require('fs').writeFileSync('/tmp/left', 's'); process.env.LEFT = 'x'; Array.prototype.left = 1; console.log('unread')")
    for session in mine:
        close(session)
    for _ in range(3):
        result = client.call("run", language="javascript", limits=LONG,
                             code="const fs = require('fs'); console.log(fs.readdirSync('/work').join(), fs.readdirSync('/tmp').join(), process.env.LEFT, typeof secret, [].left)")
        eq((result["outcome"], result["stdout"]), ("ok", "main.js  undefined undefined undefined\n"), "the next worker of a slot runs, and sees nothing of the session")

# ---- death between cells -------------------------------------------------------------------------

session = opened()
pid = pid_of(session)
os.kill(pid, signal.SIGKILL)
ok(wait_until(lambda: session not in sessions()), "a process that is killed between cells ends its session")
error, _ = answer(session, "1")
eq((error["code"], error["data"]["reason"]), ("not_found", "ended"), "and a cell is told that it ended")

# ---- many ----------------------------------------------------------------------------------------


def held_now():
    """What the daemon and its jails hold: processes and descriptors."""
    return len(children(spawner)), descriptors(daemon_pid(spawner))


def open_and_close(count):
    for turn in range(count):
        session = opened()
        if turn % 2 == 0:
            cell(session, "let x = 1")
        close(session)


leaves_nothing(held_now, open_and_close, 6, 30, "30 sessions leave no process and no descriptor")
eq(sessions(), set(), "nor a session")
done()
