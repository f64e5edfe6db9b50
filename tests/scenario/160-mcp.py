"""cectl mcp without any MCP library: what it says to every kind of line, and that nothing ends it."""

import base64
import json
import os
import queue
import random
import subprocess
import threading
import time

from wire import Client, done, eq, ok

LONG = {"wall_ms": 60000, "cpu_ms": 60000}
SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(600)"


class Server:
    """cectl mcp, and its messages by the time they came."""

    def __init__(self, *options, read=True):
        self.process = subprocess.Popen(["cectl", "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        self.kept = []
        self.last = 0
        if read:
            self.read()

    def read(self):
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method, params=None, id=None):
        if id is None:
            self.last += 1
            id = self.last
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        self.raw(json.dumps(message).encode() + b"\n")
        return id

    def notify(self, method, **params):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def next(self):
        line = self.lines.get(timeout=300)
        if line is None:
            raise EOFError("cectl mcp has ended")
        return json.loads(line)

    def until(self, found):
        """The first message, kept or new, that satisfies a condition."""
        for at, message in enumerate(self.kept):
            if found(message):
                return self.kept.pop(at)
        while True:
            message = self.next()
            if found(message):
                return message
            self.kept.append(message)

    def answer(self, id):
        return self.until(lambda m: m.get("id") == id and ("result" in m or "error" in m))

    def ask(self, method, params=None):
        return self.answer(self.send(method, params))

    def tool(self, name, arguments=None, **more):
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **more})["result"]

    def run(self, code, language="python", **more):
        return self.tool("run_code", {"language": language, "code": code, "limits": LONG, **more})

    def refused(self, line):
        self.raw(line + b"\n")
        return self.until(lambda m: "error" in m)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=300)


def text_of(result):
    return "".join(item["text"] for item in result["content"] if item["type"] == "text")


direct = Client()
server = Server()

# ---- the handshake ------------------------------------------------------------------------------


def negotiated(version):
    return server.ask("initialize", {"protocolVersion": version, "capabilities": {},
                                     "clientInfo": {"name": "raw", "version": "1"}})["result"]


for asked, given in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                     ("2025-03-26", "2024-11-05"), ("2031-01-01", "2025-11-25"), ("1999-01-01", "2025-11-25")):
    eq(negotiated(asked)["protocolVersion"], given, f"a client of {asked} is answered with {given}")
eq(sorted(negotiated("2025-11-25")["capabilities"]), ["logging", "resources", "tools"], "it says what it offers")
server.notify("notifications/initialized")
eq(server.ask("ping")["result"], {}, "a ping is answered")
eq(server.ask("ping", {})["id"], server.last, "with the id of the request")
eq(server.answer(server.send("ping", id="a text"))["id"], "a text", "an id may be a text")

tools = {tool["name"]: tool for tool in server.ask("tools/list")["result"]["tools"]}
ok(all(tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object" and tool["description"]
       for tool in tools.values()), "every tool has a description and two schemas")
eq({name for name, tool in tools.items() if not tool["annotations"]["readOnlyHint"]},
   {"run_code", "cancel_run", "open_session", "rollback_session", "close_session"}, "the annotations say which tools change something")

# ---- lines that are no requests -----------------------------------------------------------------

for name, line, code in (
        ("text that is not JSON", b"{nonsense", -32700), ("half a document", b'{"jsonrpc":"2.0",', -32700),
        ("bytes that are not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', -32700),
        ("a key twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
        ("two documents", b'{"jsonrpc":"2.0","id":1,"method":"ping"}{}', -32700),
        ("nesting of 100,000", b"[" * 100000, -32700), ("a NUL", b'{"a":\x00}', -32700),
        ("a number", b"17", -32600), ("a batch", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        ("an empty batch", b"[]", -32600), ("an object without anything", b"{}", -32600),
        ("another version", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ("the id null", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ("an id that is a list", b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
        ("a method that is a number", b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
        ("params that are a list", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
        ("an unknown method", b'{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', -32601),
        ("a notification with an id", b'{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}', -32601),
        ("an unknown tool", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_cod"}}', -32602),
        ("an unknown tool whose name is cut inside a letter", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x" + "ü" * 60}}, ensure_ascii=False).encode(), -32602),
        ("a tool without a name", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32602),
        ("an unknown level", b'{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}', -32602),
        ("a resource of others", b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002),
        ("a resource that is not there", b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ced://run/00000000000000000000000000"}}', -32002)):
    error = server.refused(line)["error"]
    ok(error["code"] == code and error["message"] and isinstance(error["message"], str), f"{name} is answered with {code}", error)
ok("did you mean run_code?" in server.refused(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_cod"}}')
   ["error"]["message"], "a similar tool is suggested")
server.raw(b'\n \r\n{"jsonrpc":"2.0","id":7,"result":{}}\n{"jsonrpc":"2.0","method":"notifications/unknown"}\n'
           b'{"jsonrpc":"2.0","method":"ping"}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n')
eq(server.ask("ping")["result"], {}, "empty lines, answers and unknown notifications are passed over")
eq(server.kept, [], "without a word")

server.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"x" * (25 << 20))
error = server.until(lambda m: "error" in m)["error"]
ok(error["code"] == -32600 and "24 MiB" in error["message"], "a line that is too long is refused before it ends", error)
server.raw(b"x" * (3 << 20) + b'"}}\n')
eq(server.ask("ping")["result"], {}, "and the line behind it is read")
eq(server.kept, [], "the long line was answered once")

# ---- programs -----------------------------------------------------------------------------------

result = server.run("print(6 * 7)")
facts = result["structuredContent"]
eq((result["isError"], facts["outcome"], facts["stdout"], facts["cut"]), (False, "ok", "42\n", []), "a program runs")
ok("42" in text_of(result) and facts["run_id"] in text_of(result), "the text for the model has its output and its id")
eq(direct.call("runs.get", run_id=facts["run_id"])["stdout"], "42\n", "the daemon has recorded it")

result = server.run("import sys\nprint('partly')\nsys.exit(3)")
eq((result["isError"], result["structuredContent"]["outcome"], result["structuredContent"]["exit_code"]), (True, "exit", 3),
   "a program that fails is an error of the tool")
ok(result["structuredContent"]["reason"] in text_of(result), "the text says what to change")

result = server.run("for i in range(20000): print('line', i)")
facts = result["structuredContent"]
ok(facts["cut"] == ["stdout"] and len(text_of(result)) < 12000, "a long output is cut to its head and its end")
ok("line 0\n" in facts["stdout"] and "line 19999\n" in facts["stdout"], "both are there")
read, offset = "", 0
while True:
    page = server.tool("get_output", {"run_id": facts["run_id"], "stream": "stdout", "offset": offset, "length": 65536})
    page = page["structuredContent"]
    read, offset = read + page["text"], page["next_offset"]
    if page["eof"]:
        break
eq(read, "".join(f"line {i}\n" for i in range(20000)), "get_output reads all of it, by pages")

result = server.run("print('a\\x1b[31mred\\u202e\\U000e0041end\\x00')")
ok("\\x1b[31m" in text_of(result) and "\\u{202e}" in text_of(result) and "\\u{e0041}" in text_of(result),
   "controls, marks that turn text and invisible letters can be seen", text_of(result))
ok("\x1b" not in json.dumps(result, ensure_ascii=False), "and do nothing")

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
files = [{"path": "dot.png", "base64": base64.b64encode(PNG).decode()}, {"path": "note.txt", "data": "hello"}]
result = server.run("import shutil\nshutil.copy('dot.png', 'copy.png')\nprint(open('note.txt').read(), input())",
                    files=files, stdin="typed", artifacts=["copy.png"])
eq(result["structuredContent"]["stdout"], "hello typed\n", "files and stdin reach the program")
eq([(item["mimeType"], base64.b64decode(item["data"])) for item in result["content"] if item["type"] == "image"],
   [("image/png", PNG)], "a picture among the artifacts comes as an image")
result = server.run("display.mime({'image/png': open('dot.png', 'rb').read()})\n6 * 7", files=files, display=True)
eq([item["type"] for item in result["content"]], ["text", "image"], "so does one that the program displays")
ok(result["structuredContent"]["display"][1] == {"main": True, "types": ["text/plain"], "text": "42"},
   "with the value of the last expression", result["structuredContent"]["display"])
page = server.tool("get_output", {"run_id": "last~1", "stream": "artifact:copy.png"})["structuredContent"]
eq(base64.b64decode(page["base64"]), PNG, "bytes that are not text are read in base64")

result = server.run("import json\nprint(json.dumps({'a\\u202eb': 'c\\U000e0041d'}))", output="json")
eq(result["structuredContent"]["value"], {"a\\u{202e}b": "c\\u{e0041}d"}, "nothing is invisible in a document either")
record = server.ask("resources/read", {"uri": "ced://run/last"})["result"]["contents"][0]["text"]
ok("\u202e" not in record and json.loads(record)["value"] == {"a\u202eb": "c\U000e0041d"}, "nor in the resource of a record, which is exact")
result = server.run("for i in range(9): display.mime({'image/png': open('dot.png', 'rb').read()})", files=files, display=True)
ok(len([i for i in result["content"] if i["type"] == "image"]) == 8 and "is left out" in text_of(result), "the ninth picture is left out, and that is said")

schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
result = server.run("import json, sys\nprint(json.dumps({'n': json.load(sys.stdin)['n'] + 1}))", input={"n": 1}, schema=schema)
eq(result["structuredContent"]["value"], {"n": 2}, "input and schema: the document comes back parsed")
result = server.run("print('{}')", schema=schema)
ok(result["isError"] and result["structuredContent"]["output_errors"], "an output that breaks the schema is an error")

for name, arguments, words in (
        ("a missing argument", {"language": "python"}, "/code"),
        ("an unknown argument", {"language": "python", "code": "", "polcy": "x"}, "polcy"),
        ("an argument of the wrong type", {"language": "python", "code": 5}, "/code"),
        ("base64 that is none", {"language": "python", "code": "", "files": [{"path": "a", "base64": "%%%"}]}, "base64"),
        ("an unknown language", {"language": "cobol", "code": ""}, "language"),
        ("an unknown limit", {"language": "python", "code": "", "limits": {"walls": 5}}, "walls"),
        ("a limit past the most", {"language": "python", "code": "", "limits": {"pids": 100000000}}, "/limits/pids")):
    result = server.tool("run_code", arguments)
    ok(result["isError"] and words in text_of(result), f"{name} is told to the model", text_of(result))

result = server.tool("check_code", {"language": "python", "code": "import ctypes"})["structuredContent"]
ok(result["would"] in ("run", "deny") and result["policy"], "check_code says what would be", result)
strict = Server("--policy", "strict", "--agent", "tester", "--label", "team=blue")
result = strict.run("import ctypes")
record = direct.call("runs.get", run_id=result["structuredContent"]["run_id"])
eq((result["isError"], record["outcome"], record["request"]["agent"], record["request"]["labels"]),
   (True, "policy_denied", "tester", {"team": "blue"}), "--policy, --agent and --label hold for all programs")
ok(record["policy"]["findings"][0]["rule"] in text_of(result), "the text names the rule")
eq(strict.end(), 0, "the end of stdin ends it")

# ---- the record ---------------------------------------------------------------------------------

failed = server.run("1/0")["structuredContent"]["run_id"]
eq(server.tool("get_run", {"run_id": failed})["structuredContent"]["code"], "1/0", "get_run has the program")
explained = server.tool("explain_run", {"run_id": failed})["structuredContent"]
ok("ZeroDivisionError" in explained["happened"][0] and explained["change"], "explain_run explains", explained)
found = server.tool("search_runs", {"outcome": "exception", "limit": 1, "since": "1h"})["structuredContent"]["runs"]
eq([run["run_id"] for run in found], [failed], "search_runs finds")
ok("python" in [r["name"] for r in server.tool("list_runtimes")["structuredContent"]["runtimes"]], "list_runtimes lists")
ok(server.tool("get_run", {"run_id": "00000000000000000000000000"})["isError"], "a run that is not there is an error")

listed = server.ask("resources/list")["result"]["resources"]
ok(f"ced://run/{failed}" in [item["uri"] for item in listed], "runs are resources")
read = server.ask("resources/read", {"uri": f"ced://run/{failed}"})["result"]["contents"][0]
eq((read["mimeType"], json.loads(read["text"])["outcome"]), ("application/json", "exception"), "they can be read")
read = server.ask("resources/read", {"uri": f"ced://run/{failed}/output/stderr"})["result"]["contents"][0]
ok("ZeroDivisionError" in read["text"], "so can their outputs")
eq(len(server.ask("resources/templates/list")["result"]["resourceTemplates"]), 2, "templates say how they are called")
for _ in range(60):
    direct.call("run", language="python", code="pass", limits=LONG)
first = server.ask("resources/list")["result"]
second = server.ask("resources/list", {"cursor": first["nextCursor"]})["result"]
ok(len(first["resources"]) == 50 and not {i["uri"] for i in first["resources"]} & {i["uri"] for i in second["resources"]},
   "more runs than a page come with the cursor")

# ---- sessions -----------------------------------------------------------------------------------

session = server.tool("open_session", {"language": "python", "limits": LONG})["structuredContent"]["session"]
server.run("x = 41", session=session)
eq(server.run("print(x + 1)", session=session)["structuredContent"]["stdout"], "42\n", "variables stay in a session")
undone = server.run("x = 0\nwhile True: pass", session=session, limits={"wall_ms": 2000})
ok("the session has what it had before it" in undone["content"][0]["text"], "a killed cell is undone, and the model is told", undone)
cell = server.run("x = 7\nprint(x)", session=session)["structuredContent"]["session"]
told = server.tool("rollback_session", {"session": session, "state": cell["from"]})["structuredContent"]
eq((told["session"], told["state"]), (session, cell["from"]), "the model can take the session back")
eq(server.run("print(x)", session=session)["structuredContent"]["stdout"], "41\n", "and finds what was there")
eq([s["session"] for s in server.tool("list_sessions")["structuredContent"]["sessions"]], [session], "it is listed")
eq(server.tool("close_session", {"session": session})["structuredContent"]["cells"], 5, "it is closed")
once = server.tool("open_session", {"language": "python"})["structuredContent"]["session"]
undone = server.run("while True: pass", session=once, limits={"wall_ms": 500})
ok("the session begins anew" in undone["content"][0]["text"], "a killed first cell leaves a session that begins anew", undone)
eq(server.run("print(1)", session=once)["structuredContent"]["stdout"], "1\n", "which goes on")
server.tool("close_session", {"session": once})
left = server.tool("open_session", {"language": "python"})["structuredContent"]["session"]

# ---- several at once, progress, cancel ----------------------------------------------------------


def begun(id):
    return lambda m: m.get("method") == "notifications/progress" and m["params"]["progressToken"] == id


def start(id, code=SLEEP, on=None):
    (on or server).send("tools/call", {"name": "run_code", "arguments": {"language": "python", "code": code, "limits": LONG},
                                       "_meta": {"progressToken": id}}, id=id)


start("slow")
first = server.until(begun("slow"))["params"]
run_id = first["message"].split()[-1].rstrip(".")
eq(server.ask("ping")["result"], {}, "a program that runs keeps no ping waiting")
eq(server.run("print('quick')")["structuredContent"]["stdout"], "quick\n", "and no other program")
second = server.until(begun("slow"))["params"]
ok(second["progress"] > first["progress"], "progress grows", (first, second))
error = server.refused(b'{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"list_runtimes"}}')["error"]
eq(error["code"], -32600, "an id that waits for its answer is refused")
server.notify("notifications/cancelled", requestId="slow", reason="enough")
eq(direct.call("wait", run_id=run_id)["outcome"], "canceled", "notifications/cancelled cancels the program")
eq(server.ask("ping")["result"], {}, "the server goes on")
ok(not [m for m in server.kept if m.get("id") == "slow"], "a cancelled request has no answer")

ids = [server.send("tools/call", {"name": "run_code", "arguments": {"language": "python", "code": f"print({i})", "limits": LONG}})
       for i in range(20)]
eq([server.answer(id)["result"]["structuredContent"]["stdout"] for id in reversed(ids)], [f"{i}\n" for i in range(19, -1, -1)],
   "twenty requests at once get their own answers")
for i in range(70):
    start(f"many-{i}")
refusal = server.until(lambda m: "error" in m)
ok("64" in refusal["error"]["message"], "past 64 requests it says that too many wait", refusal)
for i in range(70):
    server.notify("notifications/cancelled", requestId=f"many-{i}")
while "error" in server.ask("tools/call", {"name": "list_sessions"}):
    time.sleep(0.1)
eq(server.run("print('again')")["structuredContent"]["stdout"], "again\n", "and goes on when they are gone")

result = server.tool("run_code", {"language": "python", "code": SLEEP, "limits": LONG, "detach": True})
detached = result["structuredContent"]["run_id"]
ok(not result["isError"] and "wait_run" in text_of(result), "a detached program is answered with its id", result)
result = server.tool("wait_run", {"run_id": detached, "timeout_ms": 1})
eq((result["isError"], result["structuredContent"]["state"]), (False, "running"), "wait_run says that it still runs")
server.tool("cancel_run", {"run_id": detached})
eq(server.tool("wait_run", {"run_id": detached})["structuredContent"]["outcome"], "canceled", "cancel_run ends it")

# ---- a person has to approve --------------------------------------------------------------------

review = Server("--policy", "review")
review.send("tools/call", {"name": "run_code", "arguments": {"language": "python", "code": "import subprocess\nprint(1)"},
                           "_meta": {"progressToken": "asks"}}, id="asks")
told = review.until(lambda m: m.get("method") == "notifications/message" or m.get("id") == "asks")
ok("waits for a person's approval" in told.get("params", {}).get("data", ""), "a program that waits for approval says so", told)
eq(review.ask("ping")["result"], {}, "and keeps nothing waiting")
told_too = review.until(lambda m: begun("asks")(m) and "approval" in m["params"]["message"])["params"]["message"]
eq(told_too, told["params"]["data"], "progress says the same")
review.notify("notifications/cancelled", requestId="asks")
parked = told["params"]["data"].split()[1]
eq(direct.call("wait", run_id=parked)["outcome"], "canceled", "it can be cancelled, too")
eq(review.end(), 0, "that server ends")

# ---- a client that does not read ----------------------------------------------------------------

deaf = Server(read=False)
writer = threading.Thread(target=lambda: [deaf.send("tools/list") for _ in range(3000)])
writer.start()
deaf.read()
writer.join(300)
eq([deaf.next()["id"] for _ in range(3000)], list(range(1, 3001)), "answers that nobody reads are kept, within bounds, and come in order")
eq(deaf.end(), 0, "that server ends")

# ---- any lines ----------------------------------------------------------------------------------

chance = random.Random(160)
SEEDS = [json.dumps(m).encode() for m in (
    {"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"_meta": {"progressToken": 1}}},
    {"jsonrpc": "2.0", "id": "s", "method": "tools/list", "params": {"cursor": "x"}},
    {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "get_run", "arguments": {"run_id": "last"}}},
    {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "check_code", "arguments": {"language": "python", "code": "1"}}},
    {"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": "ced://run/last/output/std%6fut"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}},
    {"jsonrpc": "2.0", "id": 8, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "clientInfo": {"name": "x"}}})]


def mutate(line):
    line = bytearray(line)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(line))
        kind = chance.randrange(4)
        if kind == 0:
            line[at] = chance.choice(b'{}[]":,0-\\u \xff\x00truefalsnl')
        elif kind == 1:
            del line[at:at + chance.randrange(1, 20)]
        elif kind == 2:
            line[at:at] = chance.choice((b"{", b"[" * 70, b'"', b"null", b"1e999", b"\\ud800", b"-", b"99999999999999999999"))
        else:
            line[at:at] = bytes(line[at:at + chance.randrange(1, 40)])
        line = line or bytearray(b"x")
    return bytes(line).replace(b"\n", b" ")


odd = Server()
for _ in range(3000):
    odd.raw(mutate(chance.choice(SEEDS)) + b"\n")
odd.send("ping", id="after all that")
ok(odd.answer("after all that")["result"] == {}, "three thousand broken lines, and it answers")
ok(all(m["jsonrpc"] == "2.0" and ("method" in m) + ("result" in m) + ("error" in m) == 1
       and isinstance(m.get("error", {"message": ""})["message"], str) for m in odd.kept),
   "every word of it was JSON-RPC")
odd.raw(b'{"jsonrpc":"2.0","id":1,"meth')
eq(odd.end(), 0, "half a line at the end does no harm")

# ---- the end ------------------------------------------------------------------------------------

start("last")
run_id = server.until(begun("last"))["params"]["message"].split()[-1].rstrip(".")
server.process.stdin.close()
eq(server.answer("last")["result"]["structuredContent"]["outcome"], "canceled", "at the end of stdin what runs is cancelled, and told")
eq(server.process.wait(300), 0, "and the server ends")
eq(direct.call("runs.get", run_id=run_id)["outcome"], "canceled", "the record says so")
ok(left not in [s["session"] for s in direct.call("session.list")["sessions"]], "the session that it had opened is closed")
eq(server.process.stderr.read(), b"", "nothing was written to stderr")

killed = Server()
start("killed", on=killed)
run_id = killed.until(begun("killed"))["params"]["message"].split()[-1].rstrip(".")
killed.process.kill()
eq(direct.call("wait", run_id=run_id)["outcome"], "canceled", "a server that is killed leaves no program behind")

nowhere = Server("--socket", os.environ["CED_SOCKET"] + ".none")
eq(nowhere.ask("ping")["result"], {}, "without a daemon, it serves")
result = nowhere.run("print(1)")
ok(result["isError"] and "no daemon answers" in text_of(result) and "cectl doctor" in text_of(result),
   "and says that there is none, and what to do", text_of(result))
eq(nowhere.end(), 0, "that server ends")
done()
