"""Hostile programs and hostile clients around tools."""

import os
import sys
import time

from toolbox import ANY, Toolbox, raw, tool
from wire import Client, daemon_pid, done, eq, ok, wait_until

box = Toolbox()
OPEN = [tool("echo", True), tool("strict", {"type": "object", "additionalProperties": False})]
ECHO = {"echo": lambda **args: args, "strict": lambda: 1}

# What a program can do that speaks on the job socket itself.
RAW = """
import os, socket, struct, sys
HEAD = struct.Struct("=IIIi")
def send(number, body, kind=9, magic=0x43454401):
    data = HEAD.pack(magic, kind, len(body), number) + body
    while data:
        data = data[os.write(3, data):]
def exactly(size):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece: raise EOFError
        data += piece
    return data
def answer():
    magic, kind, size, number = HEAD.unpack(exactly(16))
    return number, kind == 10, exactly(size).decode()
def code(text):
    import json
    return json.loads(text).get("code")
"""


def attack(code, functions=ECHO, tools=OPEN, **params):
    return box.work(RAW + code, tools, functions, policy="observe", **params)


def lives():
    return box.work("print(tools.echo(a=1))", OPEN, ECHO)["stdout"] == "{'a': 1}\n"


# ---- messages -----------------------------------------------------------------------------------

calls = len(box.calls)
result = box.finish(box.start(RAW + "send(1, b'echo\\0{}')\nprint('on')", []), None)
eq((result["outcome"], result["stdout"], result.get("calls"), len(box.calls)), ("ok", "on\n", None, calls),
   "a call where no tools are offered means nothing")
eq(attack("""
for number in -1, -2**31, 2**31 - 1, 0, 7, 7:
    send(number, b'echo\\0{"n":1}')
print(sorted(answer()[0] for _ in range(6)))
""")["stdout"], "[-2147483648, -1, 0, 7, 7, 2147483647]\n", "a number that the program chose comes back, whatever it is")
eq(attack("""
bodies = [b'', b'echo', b'\\0{}', b'nobody\\0{}', b'echo\\0\\0{}', b'e' * 65 + b'\\0{}', b'\\xff\\0{}', b'../echo\\0{}', b'ec\\0ho\\0{}',
    b'echo\\0', b'echo\\0{', b'echo\\0{}{}', b'echo\\0NaN', b'echo\\0{"a":Infinity}', b'echo\\0{"a":1,"a":2}', b'echo\\0"\\xff"',
    b'echo\\0' + b'[' * 57 + b']' * 57, b'strict\\0[]', b'strict\\0{"a":1}', b'echo\\0' + b'[' * 262142 + b']' ]
for body in bodies:
    send(1, body)
    print(code(answer()[2]))
""")["stdout"].split(), ["unknown_tool"] * 4 + ["bad_arguments"] + ["unknown_tool"] * 4 + ["bad_arguments"] * 11,
   "names and arguments that are none get an error")
SECRET = "zq-4f9a-9000-0001-7c2d"
result = attack("""
for name in os.environ["K"], "glpat-" + "a" * 20, "nobody":
    send(1, name.encode() + b'\\0{}')
    print(code(answer()[2]))
""", env={"K": SECRET}, secrets=[SECRET])
eq(([(row["tool"], row["code"]) for row in box.record(result)], box.call("runs.get", run_id=result["run_id"])["masks"] >= 3),
   ([("[masked:secret]", "unknown_tool"), ("[masked:gitlab-token]", "unknown_tool"), ("nobody", "unknown_tool")], True),
   "names of tools that are not offered are stored with masks")
eq(attack("""
send(1, b'echo\\0' + b'[' * 56 + b']' * 56)
print(answer()[1])
send(1, b'echo\\0"' + b'x' * 262142 + b'"')
print(answer()[1])
send(1, b'echo\\0"' + b'x' * 262143 + b'"')
print(code(answer()[2]))
""", None, [tool("echo", True, timeout_ms=10)])["stdout"].split(), ["False", "False", "too_large"],
   "call_bytes and the nesting hold to the byte and to the bracket")
newest = box.call("runs.list", limit=1)["runs"][0]["run_id"]
eq(box.call("audit.export", stream_bytes=1 << 20)["records"][-1]["run_id"], newest, "a record with the deepest arguments is exported")
MANY = RAW + """
def told(body):
    send(1, body)
    return code(answer()[2])
codes = [told(b'nobody\\0{"a":[' + b'0,' * 32000 + b'0]}') for _ in range(%d)]
codes += [told(b'echo\\0{"a":[' + b'0,' * 32000 + b'0]}') for _ in range(20)]
print(codes[0], codes[-1], sorted(set(codes), key=str))
"""
crowd = attack(MANY % 150, {"echo": lambda **none: 1}, [tool("echo", True)], limits={"calls": 4000, "wall_ms": 60000, "cpu_ms": 60000, "calls_ms": 60000})
eq(crowd["stdout"], "unknown_tool too_large ['too_large', 'unknown_tool']\n", "calls of a run that together hold too many values fail")
rows = box.record(crowd)
ok(len(rows) == 170 and len(rows[0]["args"]["a"]) == 32001 and "args" not in rows[-1] and not any("truncated" in row for row in rows),
   "a record of many values in calls can be read", len(rows))
eq(box.call("audit.export", since=box.call("runs.get", run_id=crowd["run_id"])["received_us"], stream_bytes=32 << 20)["records"][-1]["run_id"],
   crowd["run_id"], "and exported whole")
ok(box.call("runs.replay", run_id=crowd["run_id"])["same"], "and replayed")
crowd = attack("""
codes = []
for i in range(40):
    send(i, b'echo\\0{}')
    codes.append(answer()[2][:20])
print(codes[0], codes[-1])
""", {"echo": lambda: [0] * 32000}, [tool("echo", True)])
eq((crowd["stdout"], box.answers[-1][1]["data"]), ('[0,0,0,0,0,0,0,0,0,0 {"code":"too_large",\n', {"pointer": "/result", "reason": "too_long"}),
   "results that together hold too many values fail, which their client reads")
eq(len(box.record(crowd)[0]["result"]), 32000, "and their record is whole")
result = attack("""
try:
    send(1, b'echo\\0"' + b'x' * 300000 + b'"')
    print(answer())
except (EOFError, OSError) as error:
    print("closed")
""")
eq(result["stdout"], "closed\n", "a much longer message ends the socket, not the daemon")
result = attack("""
made = 0
try:
    while made < 1000000:
        send(made, b'echo\\0{}')
        made += 1
except OSError:
    pass
print(made < 1000000)
""", limits={"calls": 10, "wall_ms": 20000, "cpu_ms": 20000})
ok(result["stdout"] == "True\n" and result["calls"]["count"] == 10, "a million calls end at the limit, and are not read", result)
result = attack("""
refused = 0
for i in range(1000000):
    try:
        tools.echo()
    except tools.ToolError as error:
        refused += error.code == "too_many"
print(refused)
""", limits={"calls": 3, "wall_ms": 60000, "cpu_ms": 60000})
eq((result["outcome"], result["stdout"]), ("ok", "999997\n"), "a million calls through the module too, and the run ends well")
result = attack("""
for i in range(120):
    send(i, b'echo\\0"' + b'x' * 250000 + b'"')
codes = [code(answer()[2]) for _ in range(120)]
print(sorted(set(codes)), codes.count("timeout") > 0)
""", None, [tool("echo", True, timeout_ms=8000)], limits={"wall_ms": 60000, "calls": 1000, "calls_at_once": 32, "calls_ms": 60000})
# "gone": a busy machine's client reads too slowly to get them all.
ok(result["stdout"] in ("['timeout', 'too_many'] True\n", "['gone', 'timeout', 'too_many'] True\n", "['gone', 'timeout'] True\n"),
   "what waiting calls hold counts for their user, and has an end", result["stdout"])
ok(lives(), "the daemon goes on")
result = attack("""
for i in range(64):
    send(i, b'echo\\0{}')
import time
time.sleep(30)
""", {"echo": lambda: "x" * 200000}, limits={"calls_ms": 1500, "wall_ms": 60000})
eq((result["outcome"], result["evidence"]["limit"]), ("wall_limit", "calls_ms"), "a program that reads no answers gets no more of them")
eq(attack("send(0, b'', kind=6)\nsend(1, b'echo\\0{}')\nimport time; time.sleep(9)")["calls"]["count"], 0,
   "after it said that it is done a program calls nothing")

# ---- threads, children, signals ------------------------------------------------------------------

gate = []


def both(**args):
    gate.append(box.calls[-1])
    if len(gate) == 2:
        box.reply(next(c for c in gate if c["args"]["who"] == "thread"), result="thread")
        gate.clear()
    from toolbox import Silence
    raise Silence


result = attack("""
import signal, threading, time
class Alarm(Exception): pass
def ring(*_): raise Alarm
signal.signal(signal.SIGALRM, ring)
got = []
thread = threading.Thread(target=lambda: (time.sleep(0.3), got.append(tools.both(who="thread"))))
thread.start()
signal.setitimer(signal.ITIMER_REAL, 0.15)
try: tools.both(who="main")      # it reads for all, and is interrupted
except Alarm: print("alarm")
thread.join()
print(got)
""", {"both": both}, [tool("both")])
eq(result["stdout"], "alarm\n['thread']\n", "a thread that read for all and was interrupted leaves that to another")
result = attack("""
import os
if os.fork() == 0:
    try: tools.echo(a=1)
    except tools.ToolError as error: print(error.code, flush=True)
    os._exit(0)
os.wait()
print(tools.echo(a=2))
""", language="python-mp")
eq(result["stdout"], "gone\n{'a': 2}\n", "a child of the program has no tools, and disturbs none")

# ---- channels of a shell -------------------------------------------------------------------------

result = box.work("""
head=$(printf '\\x01DEC' | od -An -tx1)
exec 5<>/dev/fd/$CED_CALLS_FD 2>/dev/null
printf garbage >&$CED_CALLS_FD
printf '\\x01' >&$CED_CALLS_FD
ced-call echo '{"a":1}'; echo "rc $?"
""", OPEN, ECHO, language="bash", policy="observe")
ok(result["outcome"] in ("ok", "exit"), "a shell that writes into the socket of its channels harms only itself", result)
result = box.work("""
for i in {1..200}; do timeout -s KILL 0.00$((i % 7))1 ced-call echo '{"a":1}' >/dev/null 2>&1; done
ced-call echo '{"a":2}'
""", OPEN, ECHO, language="bash", policy="observe", limits={"calls": 1000, "wall_ms": 60000, "cpu_ms": 60000})
eq(result["stdout"], '{"a":2}\n', "ced-call is killed at each of its steps, and the next one works")
result = box.work("""
for i in {1..40}; do ced-call wait & done
sleep 0.5
ced-call wait >/dev/null 2>&1 &
sleep 60
""", [tool("wait")], None, language="bash", policy="observe", limits={"calls_ms": 2000, "wall_ms": 60000})
eq((result["outcome"], result["evidence"]["limit"]), ("wall_limit", "calls_ms"), "no more channels are open than calls may wait")
ok(result["calls"]["count"] <= 20, "so the others wait for one", result["calls"])

# ---- clients -------------------------------------------------------------------------------------

WAITING = [tool("wait", timeout_ms=60000)]
LIMITS = {"calls_ms": 60000, "call_ms": 60000}


def refused(client, **params):
    return (client.receive(client.send("call.reply", **params))[0] or {}).get("code")


def begin(who=box):
    msgid = who.start("print(tools.wait())", WAITING, limits=LIMITS)
    return msgid, who.wait_for_call()


msgid, call = begin()
other = Toolbox()
name = {"run_id": call["run_id"], "call": call["call"]}
eq(refused(other, **name, result=1), "forbidden", "only the connection that offered the tools may answer")
second, another = begin()
eq(refused(box, run_id=another["run_id"], call=2, result=1), "not_found", "a call that was not made has no answer")
eq(refused(box, run_id="01ARZ3NDEKTSV4RRFFQ69G5FAV", call=1, result=1), "not_found", "nor has that of another run")
eq(refused(box, **name), "bad_request", "an answer has a result or an error")
eq(refused(box, **name, result=1, error={"message": "x"}), "bad_request", "and not both")
eq(refused(box, run_id=call["run_id"], call=0, result=1), "bad_request", "calls are numbered from 1")
eq(box.finish(box.send("call.reply", **name, result=5)), {}, "the right answer is taken")
eq(box.finish(msgid)["stdout"], "5\n", "and goes to the program")
eq(refused(box, **name, result=6), "not_found", "an answer after the end finds no run")
box.reply(another, result=None)
box.reply(another, result=7)
eq(box.finish(second)["stdout"], "None\n", "the first answer counts, and nil is one")
late = [(answer[1] or {}).get("code") for answer in box.answers[-2:]]
ok(late in ([None, "conflict"], [None, "not_found"]), "the second is told that it is late, or that the run has ended", late)
msgid, call = begin()
box.sock.sendall(raw([0, 4000, "call.reply", [{"run_id": call["run_id"], "call": 1, "result": b"bytes"}]]))
box.asked[4000] = 1
eq(box.finish(msgid)["error"]["type"], "tools.ToolError", "a result that JSON does not have is none")
eq(box.answers[-1][1]["data"]["pointer"], "/result", "which its client reads")

msgid, call = begin()
box.finish(box.send("cancel", run_id=call["run_id"]))  # the call may be over before this is answered
eq((box.finish(msgid)["outcome"], box.over[-1]["call"], box.over[-1]["why"]), ("canceled", 1, "canceled"),
   "a run is cancelled while a call waits, and its client is told")
msgid = box.start("import threading, os, signal, time\nthreading.Thread(target=tools.wait).start()\ntime.sleep(0.2)\n"
                  "os.kill(os.getpid(), signal.SIGKILL)", WAITING, limits=LIMITS, policy="observe")
box.wait_for_call()
result = box.finish(msgid)
eq((result["outcome"], box.over[-1]["why"]), ("signal", "ended"), "so it is when the program dies")
eq(box.record(result)[0]["code"], "gone", "and the record has the call")

leaving = Toolbox()
msgid, call = begin(leaving)
leaving.close()
gone = box.call("wait", run_id=call["run_id"])
eq((gone["outcome"], box.record(gone)[0]["code"]), ("canceled", "gone"), "a client that leaves takes its run with it")

# ---- what the check of a call costs -------------------------------------------------------------

DAEMON = daemon_pid(int(sys.argv[1]))


def loop_ms():
    """The cpu time of the loop itself, without that of threads."""
    with open(f"/proc/{DAEMON}/task/{DAEMON}/schedstat", encoding="utf-8") as file:
        return int(file.read().split()[0]) / 1e6


def costly(leaf, times):
    """A schema that holds its value against `leaf` times * times."""
    return {"$defs": {"a": leaf, "b": {"allOf": [{"$ref": "#/$defs/a"}] * times}}, "allOf": [{"$ref": "#/$defs/b"}] * times}


before = loop_ms()
result = attack("""
os.write(3, b''.join(HEAD.pack(0x43454401, 9, 7, number) + b'echo\\0{}' for number in range(10)))
print(sorted(code(answer()[2]) for _ in range(10)))
""", None, [tool("echo", costly({"anyOf": [False] * 2000 + [True]}, 100))], limits={"wall_ms": 60000})
eq(result["stdout"], f"{['bad_arguments'] * 10}\n", "calls whose check is too costly are refused")
spent = loop_ms() - before
ok(spent < 1500, f"ten calls at once whose check is costly: the loop is busy for {spent:.0f} ms")
eq(attack("print(tools.echo())", ECHO, [tool("echo", costly({"anyOf": [False] * 10 + [True]}, 300))])["stdout"], "{}\n",
   "a check that takes longer than a turn of the loop may is done on a thread")

before = loop_ms()
kept = {"allOf": [{"not": {"pattern": "^" + "()" * 15 + "(?:a|b)*$"}}] * 40}
eq(attack("""
for number in range(10):
    try: tools.echo(text="a" * 8000 + "c")
    except tools.ToolError as error: print(error.code)
""", None, [tool("echo", {"properties": {"text": kept}})], limits={"wall_ms": 60000, "calls_ms": 60000})["stdout"],
   "bad_arguments\n" * 10, "patterns that have PCRE2 keep much memory are too costly")
spent = loop_ms() - before
ok(spent < 1000, f"for ten such calls the loop is busy for {spent:.0f} ms")


def complaint(pattern):
    try:
        return box.work("", [tool("echo", {"pattern": pattern})])["outcome"]
    except RuntimeError as error:
        return str(error)


ok(all("ECMAScript has no" in complaint(pattern) for pattern in (r"\X{1000}[!?]", "a*+", "(?>a)", "(?R)", "a(*ACCEPT)")),
   "patterns that ECMAScript does not have are refused", complaint(r"\X"))

deaf = Toolbox()
deaf.start("""
import threading
codes = []
def main():
    try: tools.wait(text="x" * 250000)
    except tools.ToolError as error: codes.append(error.code)
threads = [threading.Thread(target=main) for _ in range(30)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(set(codes)))
""", [tool("wait", timeout_ms=1500)], limits=LIMITS | {"calls_at_once": 32}, agent="deaf")
wait_until(lambda: any(run["outcome"] for run in box.call("runs.list", agent="deaf")["runs"]))
run = box.call("runs.list", agent="deaf")["runs"][0]
record = box.call("runs.get", run_id=run["run_id"])
eq((record["outcome"], record["stdout"]), ("ok", "['gone', 'timeout']\n"),
   "a client that does not read gets no more calls than it may leave unread, and keeps its connection")
deaf.close()
ok(lives(), "the daemon goes on")
eq(box.call("audit.verify")["found"], 0, "and the chain holds")
done()
