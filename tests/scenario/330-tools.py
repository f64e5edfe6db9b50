"""What tools are for, one kind of program after the other."""

import json
import time

from toolbox import ANY, Failed, Silence, Toolbox, tool
from wire import Client, done, eq, ok

box = Toolbox()
SEARCH = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "most": {"type": "integer"}},
    "required": ["query"],
    "additionalProperties": False,
}


def search(query, most=3):
    return {"query": query, "found": [f"{query}-{i}" for i in range(most)]}


def lose(**_):
    raise Failed("no luck", {"tries": 3})


def sleep(**_):
    raise Silence


TOOLS = [tool("search", SEARCH, description="finds", output_schema=ANY), tool("lose", True), tool("sleep", timeout_ms=150)]
FUNCTIONS = {"search": search, "lose": lose, "sleep": sleep}


def work(code, tools=TOOLS, functions=FUNCTIONS, **params):
    return box.work(code, tools, functions, **params)


def outcome(result):
    return result["outcome"], result["stdout"], result["stderr"]


# ---- a module -----------------------------------------------------------------------------------

result = work("""
import tools
from tools import search
print(tools.search(query="a")["found"], search("b", 1)["found"], search("c", most=0)["found"])
""")
eq(outcome(result), ("ok", "['a-0', 'a-1', 'a-2'] ['b-0'] []\n", ""), "a program calls a tool and gets its result")
eq([call["args"] for call in box.calls], [{"query": "a"}, {"query": "b", "most": 1}, {"query": "c", "most": 0}],
   "arguments by position get the names of the schema, in its order")
ok(all(call["run_id"] == result["run_id"] and call["deadline_us"] > time.time() * 1e6 for call in box.calls),
   "a call names its run and says how long it waits")
calls = result["calls"]
eq((calls["count"], calls["failed"], calls["by_tool"]), (3, 0, {"search": 3}), "the result counts the calls")
ok(0 < calls["waited_us"] <= result["metrics"]["exec_us"], "and says for how long the program waited", calls)
ok({"step": "call.made", "note": "search: 3"}.items() <= [s for s in result["trace"] if s["step"] == "call.made"][0].items(),
   "the trace has them", result["trace"])

eq(work("print(tools.search('x')['query'], __name__)")["stdout"], "x __main__\n", "the module is there without an import, too")
eq(work("import tools\nprint(sorted(n for n in dir(tools) if n[0] != '_'))")["stdout"],
   "['ToolError', 'lose', 'search', 'sleep']\n", "it has the tools that were offered, and nothing else")
eq(outcome(work("import tools\nprint(tools.VALUE)", files=[{"path": "tools.py", "data": "VALUE = 7"}]))[:2],
   ("ok", "7\n"), "a file tools.py of the job is what its import means")
plain = box.run("import tools")
eq((plain["outcome"], plain.get("calls")), ("exception", None), "a run without tools has no such module")
eq(box.run("print(tools)")["error"]["type"], "NameError", "nor such a name")

# ---- errors -------------------------------------------------------------------------------------

result = work("""
def try_to(call):
    try:
        print(call())
    except tools.ToolError as error:
        print(error.code, "|", error.message, "|", error.data)
try_to(lambda: tools.lose(a=1))
try_to(lambda: tools.sleep())
try_to(lambda: tools.search())
try_to(lambda: tools.search(query=5))
try_to(lambda: tools.search(query="x", surprise=1))
try_to(lambda: tools.search(query=float("nan")))
try_to(lambda: tools.search(query=object()))
""")
eq(result["stdout"].splitlines(), [
    "failed | no luck | {'tries': 3}",
    "timeout | the client did not answer in time | None",
    "bad_arguments | /query: this key is required | {'pointer': '/query', 'reason': 'missing'}",
    "bad_arguments | /query: must be string, not integer | {'pointer': '/query', 'reason': 'type'}",
    "bad_arguments | /surprise: this key is not known here; known are: most, query | {'pointer': '/surprise', 'reason': 'unknown_key'}",
    "bad_arguments | Out of range float values are not JSON compliant | None",
    "bad_arguments | Object of type object is not JSON serializable | None",
], "what went wrong has a code")
eq([(over["call"], over["why"]) for over in box.over], [(2, "timeout")], "a client is told that a call is over")
eq(result["calls"]["failed"], 5, "calls that failed are counted")
eq([(c["tool"], c["verdict"], c.get("code")) for c in box.record(result)],
   [("lose", "allowed", "failed"), ("sleep", "allowed", "timeout")] + [("search", "refused", "bad_arguments")] * 3,
   "and recorded, those that were refused too")
result = work("tools.lose()")
eq((result["outcome"], result["error"]["type"], result["error"]["line"]), ("exception", "tools.ToolError", 1),
   "an error that nobody catches is an exception, at the program's line")
eq(work("tools.search(1, 2, 3)")["error"]["type"], "TypeError", "too many arguments by position are a TypeError")

# ---- ways to have them ---------------------------------------------------------------------------

eq(outcome(work("print(search('x')['query'])\ntry: lose()\nexcept ToolError as e: print(e.code)", tools_as="functions")),
   ("ok", "x\nfailed\n", ""), "tools_as functions: they are functions of the program")
ASYNC = """
import asyncio
got = await asyncio.gather(*(search(query=str(i)) for i in range(8)))
print([g["query"] for g in got])
try:
    await lose()
except ToolError as error:
    print(error.code)
"""
eq(outcome(work(ASYNC, tools_as="async")), ("ok", "['0', '1', '2', '3', '4', '5', '6', '7']\nfailed\n", ""),
   "tools_as async: they are awaited, at the top of the program too")
eq(work("print(await search('x'))\nraise SystemExit(4)", tools_as="async")["exit_code"], 4, "such a program has its exit code")
eq(work("print('plain')", tools_as="async")["stdout"], "plain\n", "and one without await runs as ever")
eq(work("await search('x')")["outcome"], "syntax_error", "elsewhere await stays a mistake")
eq(outcome(work("""
import asyncio, tools
async def main():
    first = asyncio.create_task(tools.sleep.aio())
    await asyncio.sleep(0)
    first.cancel()
    print((await tools.search.aio("y"))["query"], tools.search("z")["query"])
asyncio.run(main())
""")), ("ok", "y z\n", ""), "tasks use .aio, and may be cancelled")
eq(outcome(work("""
import threading, tools
right = []
def main(i):
    for k in range(3):
        right.append(tools.search(f"{i}.{k}")["query"] == f"{i}.{k}")
threads = [threading.Thread(target=main, args=(i,)) for i in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(right), all(right))
""")), ("ok", "48 True\n", ""), "threads call at once, and each gets its own answer")
eq(outcome(work("""
import asyncio, threading, tools
got = []
thread = threading.Thread(target=lambda: got.extend(tools.search(f"t{i}")["query"] for i in range(10)))
async def main():
    thread.start()
    for i in range(10):
        got.append((await tools.search.aio(f"a{i}"))["query"])
asyncio.run(main())
thread.join()
print(sorted(got) == sorted([f"t{i}" for i in range(10)] + [f"a{i}" for i in range(10)]))
""")), ("ok", "True\n", ""), "threads and tasks share the socket")

# ---- node ----------------------------------------------------------------------------------------

node = {"language": "javascript"}
eq(outcome(work("""
(async () => {
  console.log((await tools.search({ query: 'a' })).found.length, (await codemode.search('b', 1)).found);
  const all = await Promise.all(Array.from({ length: 20 }, (_, i) => tools.search(`${i}`)));
  console.log(all.every((one, i) => one.query === `${i}`));
  const later = tools.search('later');
  console.log(tools.search.sync('now').query, (await later).query);
  for (const call of [tools.lose, tools.sleep, tools.search]) {
    try { await call(); } catch (error) { console.log(error instanceof tools.ToolError, error.code, error.reason); }
  }
})();
""", **node)), ("ok", "3 [ 'b-0' ]\ntrue\nnow later\ntrue failed no luck\ntrue timeout the client did not answer in time\n"
                "true bad_arguments /query: this key is required\n", ""), "node awaits tools, or blocks")
eq(outcome(work("console.log((await search('top')).query)\nexport {};", tools_as="async", **node))[:2], ("ok", "top\n"),
   "a module of node awaits them at its top")
eq(outcome(work("console.log(search('plain').query); tools.search('unheard');", tools_as="functions", **node))[:2], ("ok", "plain\n"),
   "functions block in node, and a call that nobody awaits is still answered")
result = work("(async () => { await tools.lose(); })();", **node)
eq((result["outcome"], result["error"]["type"]), ("exception", "ToolError"), "an error that nobody catches ends it")
eq(work("console.log(typeof tools)", [], **node)["stdout"], "undefined\n", "a run of node without tools has none")

# ---- bash ----------------------------------------------------------------------------------------

bash = {"language": "bash"}
result = work("""
ced-call search '{"query": "a", "most": 1}'; echo "rc $?"
echo '{"query": "piped", "most": 0}' | ced-call search -
ced-call lose; echo "rc $?"
ced-call search '{'; echo "rc $?"
ced-call nobody; echo "rc $?"
ced-call; echo "rc $?"
""", **bash)
eq(result["stdout"].splitlines(), ['{"query":"a","found":["a-0"]}', "rc 0", '{"query":"piped","found":[]}', "rc 1", "rc 1", "rc 1", "rc 64"],
   "in bash a program calls tools by ced-call")
eq([json.loads(line)["code"] for line in result["stderr"].splitlines() if line[0] == "{"], ["failed", "bad_arguments", "unknown_tool"],
   "whose errors are JSON on stderr")
result = work("""
for i in {1..12}; do ced-call search "{\\"query\\": \\"$i\\"}" >out.$i & done; wait
for i in {1..12}; do grep -c "\\"query\\":\\"$i\\"" out.$i; done | sort -u
timeout -s KILL 0.2 ced-call sleep 2>/dev/null
ced-call search '{"query": "on"}' | jq -r .query
""", limits={"call_ms": 60000}, **bash)
eq((result["outcome"], result["stdout"]), ("ok", "1\non\n"), "processes call at once, and one that is killed disturbs no other")
eq(len(box.record(result)), 14, "the record has the calls of all of them")
eq(work("ced-call search", [], **bash)["exit_code"], 69, "without tools nobody is there")

# ---- what is recorded ----------------------------------------------------------------------------

result = work("tools.pay(amount=3)\ntools.search('hunter2hunter2')", TOOLS + [tool("pay", effects=True)],
              FUNCTIONS | {"pay": lambda amount: {"paid": amount}}, secrets=["hunter2hunter2"])
rows = box.record(result)
eq([(r["call"], r["tool"], r["effects"], r["args"], r["verdict"]) for r in rows],
   [(1, "pay", True, {"amount": 3}, "allowed"), (2, "search", False, {"query": "[masked:secret]"}, "allowed")],
   "the record has each call, with secrets masked")
eq((rows[0]["result"], rows[1]["result"]["query"]), ({"paid": 3}, "[masked:secret]"), "and its result")
ok(result["masks"] >= 2, "the masks are counted", result.get("masks"))
eq(box.calls[-1]["args"], {"query": "hunter2hunter2"}, "the client gets what the program said")

many = work("for i in range(1000): tools.search(str(i), 0)", limits={"calls": 1000})
rows = box.record(many)
eq((many["outcome"], many["calls"]["count"], len(rows)), ("ok", 1000, 1000), "a run of a thousand calls has a thousand rows")
ok(all(row["call"] == i + 1 and row["args"]["query"] == str(i) and row["result"]["query"] == str(i)
       for i, row in enumerate(rows)), "complete, and in order")
report = box.call("audit.verify")
eq(report["found"], 0, "and the chain holds")

# ---- limits --------------------------------------------------------------------------------------

result = work("""
for i in range(4):
    try: tools.search(str(i))
    except tools.ToolError as error: print(i, error.code)
""", limits={"calls": 2})
eq((result["stdout"], result["calls"]["count"]), ("2 too_many\n3 too_many\n", 2), "after `calls` calls there are no more, and the run goes on")
result = work("""
for i in range(3):
    try: tools.once()
    except tools.ToolError as error: print(i, error.code)
""", [tool("once", calls=1)], {"once": lambda: 1})
eq(result["stdout"], "1 too_many\n2 too_many\n", "a tool may have a number of its own")
result = work("""
try: tools.echo(text="x" * 3000)
except tools.ToolError as error: print(error.code)
try: tools.grow()
except tools.ToolError as error: print(error.code)
""", [tool("echo"), tool("grow")], {"echo": lambda text: text, "grow": lambda: "x" * 3000}, limits={"call_bytes": 2048})
eq(result["stdout"], "too_large\ntoo_large\n", "call_bytes holds for arguments and for results")
code, error = next(answer for answer in reversed(box.answers) if answer[1])
eq(error["data"], {"pointer": "/result", "reason": "too_long"}, "the client is told, too")
eq(work("try: tools.word()\nexcept tools.ToolError as error: print(error.code, error.message)",
        [tool("word", output_schema={"type": "object", "properties": {"a": {"type": "string"}}})],
        {"word": lambda: {"a": 1}})["stdout"], "bad_result /a: must be string, not integer\n", "a result is held against the schema")
eq(box.answers[-1][1]["data"]["pointer"], "/result/a", "and its client reads where it is wrong")

gate = []


def late(**_):
    """Answers when as many calls wait as may, and then those first that came last."""
    gate.append(box.calls[-1])
    if len(gate) == 2:
        for call in reversed(gate):
            box.reply(call, result=len(box.calls))
        gate.clear()
    raise Silence


box.calls.clear()
result = work("""
import threading
threads = [threading.Thread(target=tools.late) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("all")
""", [tool("late")], {"late": late}, limits={"calls_at_once": 2})
eq(outcome(result)[:2], ("ok", "all\n"), "no more calls than calls_at_once are with the client, the others wait")


def slow(**_):
    time.sleep(0.4)
    return 1


result = work("tools.slow(); tools.slow()", [tool("slow")], {"slow": slow}, limits={"wall_ms": 300})
eq(result["outcome"], "ok", "wall_ms stands while a call waits")
ok(result["calls"]["waited_us"] > 700000, "and the time is told", result["calls"])
result = work("tools.sleep()", [tool("sleep")], FUNCTIONS, limits={"calls_ms": 300})
eq((result["outcome"], result["evidence"]["limit"]), ("wall_limit", "calls_ms"), "calls_ms runs instead, and ends the run")
eq((box.over[-1]["run_id"], box.over[-1]["why"]), (result["run_id"], "ended"), "its client is told that nobody waits any more")
eq(box.record(result)[0]["code"], "gone", "and the record says that it got no answer")
result = work("tools.search('x')\nwhile True: pass", limits={"wall_ms": 400, "cpu_ms": 400})
ok(result["outcome"] in ("wall_limit", "cpu_limit"), "after a call the clocks run as before", result["outcome"])

# ---- the contract --------------------------------------------------------------------------------


def refusal(**params):
    error, _ = box.receive(box.send("run", language="python", code="pass", **params))
    return (error["data"]["pointer"], error["data"]["reason"]) if error else None


eq(refusal(tools=[tool("a"), tool("a")]), ("/tools/1/name", "duplicate"), "two tools of one name are refused")
eq(refusal(tools=[tool("ToolError")]), ("/tools/0/name", "value"), "and the name of the error")
eq(refusal(tools=[tool("a", {"type": "strange"})]), ("/tools/0/input_schema/type", "schema"), "a schema that is none")
eq(refusal(tools=[tool("a", {"description": "x" * 70000})]), ("/tools/0/input_schema", "too_long"), "schemas that are too long together")
eq(refusal(tools=[tool("a", timeout_ms=10**8)]), ("/tools/0/timeout_ms", "range"), "a time past the most")
eq(refusal(tools=[tool("a")], detach=True), ("/detach", "conflict"), "a run with tools is not detached")
eq(refusal(tools=[tool("a")], cache="use"), ("/cache", "conflict"), "nor cached")
first = work("print(tools.search('x')['query'])", id="once")
calls = len(box.calls)
again = work("print(tools.search('x')['query'])", id="once")
eq((again["stdout"], again["calls"], len(box.calls)), (first["stdout"], first["calls"], calls), "an id is done once: no tool is called again")
error, _ = box.receive(box.send("run", language="python", code="print(tools.search('x')['query'])", id="once", tools=[tool("search")]))
eq(error["code"], "conflict", "and other tools are another action")
eq(box.call("check", language="python", code="tools.search('x')", tools=TOOLS)["would"], "run", "a check reads them")
asked = Client().call("runs.get", run_id=first["run_id"])["request"]
eq((asked["tools"], json.dumps(asked.get("tools_as"))), (TOOLS, "null"), "the record has what was offered")

done()
