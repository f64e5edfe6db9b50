"""ced-call and ced-display, in runs and in cells of bash."""

from toolbox import Toolbox, tool
from wire import done, eq, ok, wait_until

box = Toolbox()
LONG = {"wall_ms": 60000, "cpu_ms": 60000}
ADD = [tool("add", {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]})]
FUNCTIONS = {"add": lambda a, b: a + b}
PNG = b"\x89PNG\r\n\x1a\n\0\xff"


def run(code, tools=None, functions=None, **params):
    limits = {**LONG, **params.pop("limits", {})}
    given = {"tools": tools} if tools else {}
    return box.finish(box.send("run", language="bash", policy="observe", code=code, limits=limits, **given, **params), functions)


def opened(**params):
    return box.call("session.open", language="bash", policy="observe", limits={**LONG, **params.pop("limits", {})}, **params)["session"]


def cell(session, code, tools=None, functions=None, **params):
    given = {"tools": tools} if tools else {}
    return box.finish(box.send("run", session=session, code=code, **given, **params), functions)


def shown(result):
    return [item["data"] for item in result["display"]]


# ---- what a run of bash displays -----------------------------------------------------------------

result = run("echo '<b>one</b>' | ced-display text/html; printf '\\x89PNG\\r\\n\\x1a\\n\\0\\xff' >p.png; ced-display image/png p.png; echo $?", display=True)
eq((result["stdout"], shown(result)), ("0\n", [{"text/html": "<b>one</b>\n"}, {"image/png": PNG}]), "ced-display shows stdin and files, text as text and bytes as bytes")
numbers = run("x=$(printf '0.1,%.0s' {1..300}); echo \"[${x%,}]\" | ced-display application/json; echo $?", display=True)
eq((numbers["stdout"], shown(numbers)), ("0\n", [{"application/json": [0.1] * 300}]), "numbers that are longer in the message than as text")
eq([item["main"] for item in result["display"]], [False, False], "none of them is the value of the program")
result = run("ced-display application/json <<<'{\"a\": [1, 2.5, null]}'; ced-display application/x+json <<<'[1'; echo $?; ced-display TEXT/x <<<1; echo $?", display=True)
eq((shown(result), result["stdout"]), ([{"application/json": {"a": [1, 2.5, None]}}], "1\n1\n"), "JSON is a value, and what is none is refused")
ok('"code":"bad_item"' in result["stderr"] and "media type" in result["stderr"], "with the reason on stderr", result["stderr"])
eq(run("ced-display text/plain <<<x; echo $?; ced-display; echo $?; ced-display text/plain /none; echo $?")["stdout"], "69\n64\n64\n", "without display nobody takes it, and wrong words are told")
eq(run("true", display=True)["display"], [], "a program that displays nothing has an empty list")
result = run("for i in {1..20}; do (head -c 100000 /dev/zero | tr '\\0' $((i % 10)) | ced-display text/plain) & done; wait", display=True)
ok(len(result["display"]) == 20 and all(len(set(data["text/plain"])) == 1 and len(data["text/plain"]) == 100000 for data in shown(result)), "twenty processes at once do not mix their items", len(result["display"]))
result = run("head -c 3000 /dev/zero | ced-display image/png; head -c 3000 /dev/zero | ced-display image/png; echo on", display=True, limits={"display_bytes": 5000})
eq((result["outcome"], result["evidence"]["limit"] == "display_bytes", result["stdout"]), ("output_limit", True, ""), "past display_bytes the run is killed")
result = run("head -c 3000 /dev/zero | ced-display image/png; head -c 9000 /dev/zero | ced-display image/png; echo $?", display=True, limits={"display_bytes": 5000})
ok((result["outcome"], result["stdout"], len(result["display"])) == ("ok", "69\n", 1) and "display_bytes" in result["stderr"], "an item that alone is larger is not taken, and its program hears of it", result)
result = run("for i in {1..260}; do ced-display text/plain <<<$i; done; echo $?", display=True)
eq((result["outcome"], len(result["display"]), result["stdout"]), ("ok", 256, "0\n"), "a result has the first 256 items")
result = run("ced-call add '{\"a\": 1, \"b\": 2}'; ced-display text/plain <<<x", ADD, FUNCTIONS, display=True)
eq((result["stdout"], shown(result)), ("3\n", [{"text/plain": "x\n"}]), "a run calls tools and displays")
box.notices.clear()
run("ced-display text/plain <<<early; sleep 0.1; ced-display text/plain <<<late", display=True, stream=True)
eq([notice[1][0]["data"]["text/plain"] for notice in box.notices if notice[0] == "run.display"], ["early\n", "late\n"], "items are streamed")

# ---- cells ---------------------------------------------------------------------------------------

session = opened(states=2)
result = cell(session, "x=$(ced-call add '{\"a\": 20, \"b\": 22}'); echo $x; ced-display text/plain <<<first", ADD, FUNCTIONS, display=True)
eq((result["stdout"], result["calls"]["count"], shown(result)), ("42\n", 1, [{"text/plain": "first\n"}]), "the first cell of a session calls and displays")
result = cell(session, "cat; echo $x; ced-call add '{\"a\": 1, \"b\": 1}'", ADD, FUNCTIONS, stdin="in\n", files=[{"path": "f", "data": ""}])
eq((result["stdout"], result["calls"]["by_tool"]), ("in\n42\n2\n", {"add": 1}), "so does a later one, with stdin")
result = cell(session, "ced-call add '{}'; echo $?; ced-display text/plain <<<x; echo $?; env | grep -c CED_")
eq((result["stdout"], result.get("calls"), "no tools are offered" in result["stderr"]), ("69\n69\n0\n", None, True), "a cell without tools has none, and no variable of ours")
result = cell(session, "ced-call add '{\"a\": \"x\"}' 2>&1; ced-call nosuch 2>&1", ADD, FUNCTIONS)
ok("bad_arguments" in result["stdout"] and "unknown_tool" in result["stdout"], "calls are compared with the offer of their cell", result)
eq([row["tool"] for row in box.record(result)], ["add", "nosuch"], "and each is in the record of its cell")
result = cell(session, "for i in {1..12}; do ced-call add \"{\\\"a\\\": $i, \\\"b\\\": 0}\" & done; wait", ADD, FUNCTIONS)
eq((sorted(map(int, result["stdout"].split())), result["calls"]["count"]), (list(range(1, 13)), 12), "processes of a cell call at once")
result = cell(session, "exec 3>&1; ced-call add '{\"a\": 5, \"b\": 5}' | cat >&3; exec 3>&-; exit 4", ADD, FUNCTIONS)
eq((result["stdout"], result["exit_code"]), ("10\n", 4), "a cell that exits has called")
wait_until(lambda: 6 in box.call("session.list")["sessions"][0]["kept"])
cell(session, "x=bad; kill -9 $$", ADD, FUNCTIONS)
result = cell(session, "echo $x; ced-call add '{\"a\": 2, \"b\": 2}'; ced-display text/plain <<<again", ADD, FUNCTIONS, display=True)
eq((result["stdout"], shown(result)), ("42\n4\n", [{"text/plain": "again\n"}]), "a session that went back calls and displays")

# ---- what an earlier cell kept -------------------------------------------------------------------

# A job in the background goes on with the next cell.  It has the socket of its own cell, and with it the untaken channels.
cell(session, "{ while [[ ! -e go ]]; do sleep 0.01; done; ced-call add '{\"a\": 7, \"b\": 7}' >kept 2>&1; echo $? >>kept; ced-display text/plain <<<old 2>>kept; echo $? >>kept; touch ready; } & true", ADD, FUNCTIONS, display=True)
before = len(box.calls)
result = cell(session, "touch go; while [[ ! -e ready ]]; do sleep 0.01; done; cat kept", ADD, FUNCTIONS, display=True)
ok("nobody" in result["stdout"] and result["stdout"].count("69") == 2, "a job of an earlier cell calls nobody and displays to nobody, in a cell with the same tools", result["stdout"])
eq((result["calls"]["count"], result["display"], len(box.calls) - before), (0, [], 0), "and nothing of it is counted, shown or sent")
cell(session, "rm go ready; exec 7<&198; { while [[ ! -e go ]]; do sleep 0.01; done; CED_CALLS_FD=7 ced-call add '{\"a\": 1, \"b\": 1}' >kept 2>&1; echo $? >>kept; touch ready; } & true", ADD, FUNCTIONS)
result = cell(session, "touch go; while [[ ! -e ready ]]; do sleep 0.01; done; cat kept; CED_CALLS_FD=7 ced-call add '{\"a\": 1, \"b\": 1}'; echo $?; exec 7<&-", ADD, FUNCTIONS)
eq((result["stdout"].count("69"), result["calls"]["count"]), (2, 0), "a copy of the socket that a cell made is of no use in the next")
SLOW = [tool("slow")]
result = cell(session, "ced-call slow & while [[ ! $(jobs -r) ]]; do :; done; sleep 0.5", SLOW, None)
eq([row["code"] for row in box.record(result)], ["gone"], "a call that waits when its cell ends is gone")
eq([notice["why"] for notice in box.over[-1:]], ["ended"], "and its client is told")
error, _ = box.receive(box.send("call.reply", run_id=result["run_id"], call=1, result=1))
eq(error["code"], "not_found", "an answer after that finds no call")
result = cell(session, "echo on; ced-call add '{\"a\": 3, \"b\": 3}'", ADD, FUNCTIONS)
eq(result["stdout"], "on\n6\n", "the next cell does not see the answer")

# ---- hostile words on channels -------------------------------------------------------------------

SAY = r"""
le() { local i v=$1; for i in 1 2 3 4; do printf "\\x$(printf %x $((v & 255)))"; v=$((v >> 8)); done; }
word() { le $((0x43454401)); le $1; le $2; le ${3:-1}; }
"""
BEGUN, DONE, CALL, DISPLAY = 4, 6, 9, 12
session = opened(states=0)
for kind in range(0, 18):
    result = cell(session, SAY + f"{{ word {kind} 0; }} >&198 2>/dev/null; echo $?; ced-call add '{{\"a\": 1, \"b\": 1}}'", ADD, FUNCTIONS)
    ok(result["outcome"] in ("ok", "exit") and result["calls"]["count"] <= 1, f"word {kind} on the socket with channels is a cell's own", result)
result = cell(session, "exec 198<&-; ced-call add '{}'; echo $?", ADD, FUNCTIONS)
eq(result["stdout"], "69\n", "a cell that closes the socket calls nobody")
eq(cell(session, "ced-call add '{\"a\": 1, \"b\": 1}'", ADD, FUNCTIONS)["stdout"], "2\n", "and the next one has its own")
result = cell(session, "for i in {1..200}; do timeout -s KILL 0.00$((i % 7))1 ced-display text/plain <<<x >/dev/null 2>&1; done; ced-display text/plain <<<last; echo $?", display=True, limits={"wall_ms": 60000, "cpu_ms": 60000})
eq((result["stdout"], shown(result)[-1:]), ("0\n", [{"text/plain": "last\n"}]), "ced-display is killed at each of its steps, and the next one works")
result = cell(session, "(head -c 4000000 /dev/zero; sleep 60) | ced-display image/png & (head -c 4000000 /dev/zero; sleep 60) | ced-display image/png & sleep 1; ced-display text/plain <<<other; echo $?", display=True)
eq((result["stdout"], shown(result)), ("0\n", [{"text/plain": "other\n"}]), "one that never ends does not keep others from displaying")
low = opened(limits={"open_files": 64})
error, result = box.receive(box.send("run", session=low, code="echo 1", tools=ADD))
ok(error and error["data"]["pointer"] == "/tools" and "open_files" in error["message"], "a limit that leaves no place for the socket is told", (error, result))
done()
