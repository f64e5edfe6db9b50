"""Sessions with a network."""

import os
import signal
import sys

from toolbox import Toolbox, tool
from wire import Client, children, command, done, eq, ok, wait_until

FOLDER, SPAWNER = sys.argv[1], int(sys.argv[2])
with open(os.path.join(FOLDER, "ports"), encoding="ascii") as file:
    PORTS = {name: int(port) for name, port in (line.split() for line in file)}
HTTP, ECHO = PORTS["http"], PORTS["echo"]
LONG = {"wall_ms": 60000, "cpu_ms": 60000}
ALLOW = [f"api.test:{HTTP}", f"api.test:{ECHO}"]
client = Client()

HEAD = """
import errno, socket
def tried(what):
    try:
        return what()
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)
def echo(data, port=%d, host='api.test'):
    with socket.create_connection((host, port), timeout=20) as s:
        s.sendall(data)
        return s.recv(100)
""" % ECHO


def opened(**params):
    return client.receive(client.send("session.open", limits=LONG, **{"language": "python", **params}))


class Session:
    def __init__(self, allow=ALLOW, more=(), **params):
        network = {"network": {"allow": allow, **dict(more)}} if allow else {}
        error, result = opened(**network, **params)
        if error:
            raise RuntimeError(error)
        self.id = result["session"]

    def ask(self, code, **params):
        return client.receive(client.send("run", session=self.id, code=code, **params))

    def cell(self, code, **params):
        error, result = self.ask(code, **params)
        if error:
            raise RuntimeError(error)
        return result

    def rollback(self, state):
        return client.receive(client.send("session.rollback", session=self.id, state=state))

    def settled(self):
        row = next(row for row in client.call("session.list")["sessions"] if row["session"] == self.id)
        self.rollback(row["state"])
        return next(row for row in client.call("session.list")["sessions"] if row["session"] == self.id)

    def close(self):
        client.call("session.close", session=self.id)


def rows(result):
    return [(row["host"], row["port"], row["verdict"], row["count"]) for row in result["connections"]]


# ---- cells connect ------------------------------------------------------------------------------

s = Session(states=4)
first = s.cell(HEAD)
eq((first["outcome"], first["connections"]), ("ok", []), "a cell that connects to nothing has no connections")
for word in "one", "two", "three":
    result = s.cell(f"print(echo(b'{word}'))")
    eq((result["stdout"], rows(result)), (f"b'{word}'\n", [("api.test", ECHO, "allowed", 1)]), f"cell {word} reaches a host, and its result has its own connections")
    eq(client.call("runs.get", run_id=result["run_id"])["connections"], result["connections"], "as its record has")
result = s.cell(f"import urllib.request; print(urllib.request.urlopen('http://api.test:{HTTP}/x').read().decode()); print([echo(b'x') for _ in range(5)])")
eq(sorted(rows(result)), sorted([("api.test", HTTP, "allowed", 1), ("api.test", ECHO, "allowed", 5)]), "several in one cell")
result = s.cell("print(tried(lambda: echo(b'x', host='198.18.0.9')), tried(lambda: echo(b'x', port=9)), tried(lambda: echo(b'x', host='10.1.2.3')))")
ok("b'x'" not in result["stdout"], "no cell reaches what the session did not ask for", result["stdout"])
error, _ = s.ask("1", network={"allow": ALLOW})
eq((error["data"]["pointer"], error["data"]["reason"]), ("/network", "conflict"), "a cell asks for no network")
error, _ = s.ask("1", network="denied")
eq((error["data"]["pointer"], error["data"]["reason"]), ("/network", "conflict"), "and gives none up")

# ---- states -------------------------------------------------------------------------------------

eq(len(s.settled()["kept"]), 4, "states of a session with a network are kept")
kept = s.settled()["kept"][-1]
s.cell("y = 1")
eq(s.rollback(kept)[0], None, "one can go back")
result = s.cell("print(echo(b'again'))")
eq((result["stdout"], rows(result)), ("b'again'\n", [("api.test", ECHO, "allowed", 1)]), "and connect from there")
result = s.cell("c = socket.create_connection(('api.test', %d)); c.sendall(b'lost'); c.recv(4)\nimport os; os._exit(1)" % ECHO)
eq((result["session"].get("went_back") is not None, rows(result)), (True, [("api.test", ECHO, "allowed", 1)]), "a cell that is killed is undone, and its connections are in its record")
eq(s.cell("print(echo(b'after'))")["stdout"], "b'after'\n", "and the next cell connects")

# ---- between cells ------------------------------------------------------------------------------

s.cell("c = socket.create_connection(('api.test', %d)); c.sendall(b'held'); print(c.recv(4))" % ECHO)
result = s.cell("print(tried(lambda: c.sendall(b'late')), tried(lambda: c.recv(4)))")
ok("late" not in result["stdout"], "a connection ends with its cell", result["stdout"])
eq(result["connections"], [], "and is none of the next one")
result = s.cell("print(echo(b'new'))")
eq((result["stdout"], rows(result)), ("b'new'\n", [("api.test", ECHO, "allowed", 1)]), "while a new one can be made")
s.close()

# Each thread's connections are in the record of the cell in whose time they are made.
s = Session(states=0)
s.cell(HEAD + """
import threading, time
made, stop = [], threading.Event()
def go_on():
    while not stop.is_set():
        made.append(tried(lambda: echo(b't')))
        time.sleep(0.01)
t = threading.Thread(target=go_on, daemon=True); t.start()
while not made: time.sleep(0.01)
""")
counts = [sum(row["count"] for row in s.cell("n = len(made)\nwhile len(made) < n + 3: time.sleep(0.01)")["connections"]) for _ in range(4)]
ok(all(count >= 2 for count in counts), "a thread connects in the time of cells, and each result has what was made in its time", counts)
eq(s.cell("stop.set(); t.join(); print(made.count(b't') > 8)")["stdout"], "True\n", "and it was served")
s.close()

# ---- a shell ------------------------------------------------------------------------------------

s = Session(language="bash", states=3)
TALK = f"exec 7<>/dev/tcp/api.test/{ECHO}; printf %s WORD >&7; read -r -N 3 word <&7; exec 7>&-; echo $word"
for word in "one", "two":
    result = s.cell(TALK.replace("WORD", word))
    eq((result["stdout"], rows(result)), (word + "\n", [("api.test", ECHO, "allowed", 1)]), f"cell {word} of bash reaches a host")
eq(s.settled()["kept"], [1, 2], "states of a shell with a network are kept")
eq(s.rollback(1)[0], None, "one can go back")
result = s.cell("echo had $word; " + TALK.replace("WORD", "new"))
eq((result["stdout"], rows(result)), ("had one\nnew\n", [("api.test", ECHO, "allowed", 1)]), "and connect from there")
s.close()

# ---- limits are those of a cell -----------------------------------------------------------------

s = Session(more={"connections": 2})
s.cell(HEAD)
for word in "first", "second":
    result = s.cell("print([tried(lambda: echo(b'x')) for _ in range(4)].count(b'x'))")
    eq(result["stdout"], "2\n", f"the {word} cell has as many connections as the session asked for")
    ok(any(row["verdict"] == "limit" for row in result["connections"]), "and the result says so", result["connections"])
s.close()

# ---- node ---------------------------------------------------------------------------------------

s = Session(language="javascript")
for path in "ab":
    result = s.cell(f"console.log(await (await fetch('http://api.test:{HTTP}/{path}')).text())")
    eq((result["stdout"].strip(), rows(result)), (f"GET /{path} of api.test", [("api.test", HTTP, "allowed", 1)]), f"a cell of node fetches /{path}")
box = Toolbox()


def calls(code):
    params = {"session": s.id, "code": code, "tools": [tool("add")], "limits": LONG}
    return box.finish(box.send("run", **params), {"add": lambda a, b: a + b})


# Timers that are due fire before the next cell begins, when its name is known and its tools are not there.
calls("""
const mine = process.argv[1], own = tools.add, early = [];
const call = () => (globalThis.tools?.add ?? own)({ a: 1, b: 1 }).then(String, (error) => error.code);
const timer = setInterval(() => { if (process.argv[1] !== mine && !early.length) early.push(call()) }, 1);
""")
result = calls("clearInterval(timer); console.log(...await Promise.all(early), await tools.add({ a: 20, b: 22 }))")
ok(result["stdout"] in ("gone 42\n", "42\n"), "a timer that fires before its cell calls no tool", result)
eq(result["calls"]["count"], 1, "and does not wait for an answer")
s.close()

# ---- refused, and sessions without --------------------------------------------------------------

for name, network, pointer, reason in (
        ("a host that the settings do not allow", {"allow": ["example.org"]}, "/network/allow/0", "not_allowed"),
        ("more than the settings allow", {"allow": ALLOW, "connections": 1 << 30}, "/network/connections", "range"),
        ("no network at all", {"allow": []}, "/network/allow", None)):
    error, _ = opened(network=network)
    ok(error and error["data"]["pointer"] == pointer and reason in (None, error["data"]["reason"]), f"session.open refuses {name}", error)
s = Session(policy="nets-deny")
eq(s.cell(HEAD + "print(echo(b'x'))")["outcome"], "policy_denied", "a policy that denies networks denies each cell of a session that asks for one")
s.close()
s = Session(allow=None, network="denied")
result = s.cell(HEAD + "print(tried(lambda: echo(b'x')))")
ok("b'x'" not in result["stdout"] and "connections" not in result, "a session that asks for none has none", result["stdout"])
eq(s.cell("1", network="denied")["outcome"], "ok", "which a cell may say, too")
s.close()

# ---- other sessions, and the end of ced-egress --------------------------------------------------

one, two = Session(), Session(allow=[f"api.test:{HTTP}"])
one.cell(HEAD), two.cell(HEAD)
eq(one.cell("print(echo(b'one'))")["stdout"], "b'one'\n", "two sessions have their own rules")
ok("b'x'" not in two.cell("print(tried(lambda: echo(b'x')))")["stdout"], "which hold for each")
egress = [pid for pid in children(SPAWNER) if "ced-egress" in command(pid)]
for pid in egress:
    os.kill(pid, signal.SIGKILL)
ok(wait_until(lambda: [pid for pid in children(SPAWNER) if "ced-egress" in command(pid) and pid not in egress]), "another ced-egress starts")
refusals = []


def connects_again():
    error, result = one.ask("print(tried(lambda: echo(b'back')))")
    refusals.extend([error["code"]] if error else [])
    return not error and result["stdout"] == "b'back'\n"


ok(wait_until(connects_again), "and the session's cells connect again")
eq(set(refusals) - {"busy"}, set(), "what comes before it is ready is told to come again")
one.close(), two.close()
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "no session is left")
done()
