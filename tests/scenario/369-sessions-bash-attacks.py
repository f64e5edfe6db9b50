"""Hostile cells of bash.  Nothing of them runs between cells, reaches another run, or outlives the session."""

import os
import sys
import time

from still import leaves_nothing
from wire import Client, children, command, daemon_pid, descriptors, done, eq, lives, ok, wait_until

spawner = int(sys.argv[1])
client, root = Client(), Client()
LONG = {"wall_ms": 60000, "cpu_ms": 60000}

# say KIND CODE: a word on the job socket, whose descriptor is the highest socket that the shell has.
SAY = r"""
job=200
le() { local i v=$1; for i in 1 2 3 4; do printf "\\x$(printf %x $((v & 255)))"; v=$((v >> 8)); done; }
say() { { le $((0x43454401)); le $1; le 0; le $2; } >/tmp/word; cat /tmp/word >&$job; }
"""
DONE, AGREED = 6, 16


def opened(**params):
    limits = {**LONG, **params.pop("limits", {})}
    return client.call("session.open", language="bash", policy="observe", limits=limits, **params)["session"]


def answer(session, code, **params):
    return client.receive(client.send("run", session=session, code=code, **params))


def cell(session, code, **params):
    return client.call("run", session=session, code=code, **params)


def printed(session, code, **params):
    result = cell(session, code, **params)
    return result["stdout"] if result["outcome"] == "ok" and not result["stderr"] else result


def sessions():
    return {session["session"]: session for session in root.call("session.list")["sessions"]}


def close(session):
    if session in sessions():
        client.call("session.close", session=session)


def runs_well(after):
    result = client.call("run", language="bash", code="echo well", limits=LONG)
    eq((result["outcome"], result["stdout"], result["stderr"]), ("ok", "well\n", ""), f"a run after {after} is as ever")


def pids_of(word):
    return [pid for pid in children(spawner) if word in command(pid)]


def switches(pid):
    total = 0
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total


# ---- nothing runs between cells ------------------------------------------------------------------

session = opened(states=0)
cell(session, "while :; do :; done & sleep 98765 & while sleep 0.001; do echo beat >>/work/beats; done & true")
while not pids_of("98765"):  # the cell may end before its job executes sleep
    cell(session, "sleep 0.05")
sleeper = pids_of("98765")[0]
busy = [pid for pid in children(spawner) if command(pid).startswith("/usr/bin/bash") and lives(pid)]
before = {pid: switches(pid) for pid in busy if os.path.exists(f"/proc/{pid}/status")}
time.sleep(1)
after = {pid: switches(pid) for pid in before if os.path.exists(f"/proc/{pid}/status")}
ok(all(after[pid] <= before[pid] + 20 for pid in after), "between cells no job in the background gets a processor", (before, after))
worked_us = 0
for _ in range(20):  # a busy machine gives the job less
    worked = cell(session, "sleep 0.5")["metrics"]
    worked_us += worked["cpu_user_us"] + worked["cpu_sys_us"]
    if worked_us > 100_000:
        break
ok(worked_us > 100_000, "a job that computes is on the account of the cell in which it does", worked_us)
close(session)
ok(wait_until(lambda: not lives(sleeper)), "and ends with the session")

session = opened(states=0)
cell(session, "{ trap '' PIPE; while :; do sleep 0.01; echo old; done; } 2>/dev/null &\ntrue")
seen = [printed(session, "sleep 0.2; echo mine") for _ in range(3)]
eq(seen, ["mine\n"] * 3, "what a job of an earlier cell writes into its old pipes reaches no later cell")
close(session)
runs_well("jobs in the background")

# ---- what the shell can be told ------------------------------------------------------------------

# Each of these is a cell, and the cell after it is told as what it was: it runs, or the session is over.
TRICKS = ("readonly PATH IFS x BASH_SOURCE; declare -r y", "readonly -f f 2>/dev/null; f() { :; }; readonly -f f", "trap - EXIT; trap '' EXIT HUP INT TERM USR1 CHLD",
          "trap 'echo debug' DEBUG", "trap 'echo ret; false' RETURN", "trap 'kill -9 $$' ERR; false", "function . { echo mine; }", "function source { echo mine; }; function builtin { false; }",
          "exec() { :; }; set() { :; }; eval() { :; }; read() { :; }; printf() { :; }; exit() { return 1; }; exit", "enable -n . source eval exec", "shopt -s expand_aliases; alias .=false",
          "exec 0<&- 1>&- 2>&-", "exec 1>&2 2>/dev/null", "for fd in {3..255}; do eval \"exec $fd>&-\"; done", "exec 255</dev/null", "exec 255<&-", "exec 254>&-; exec 200>&-",
          "for fd in {3..250}; do eval \"exec $fd</dev/null\"; done 2>/dev/null", "ulimit -n 3; ulimit -f 0; ulimit -s 10", "set -euo pipefail", "set -n", "set -o posix", "set -k -f -B -v -x",
          "set -o noclobber -o physical -o privileged", "IFS=/", "PATH=", "unset PATH HOME PWD BASH_VERSION; BASH_ARGV0=x", "cd /work; rmdir /work; mkdir d; cd d; rmdir ../d",
          "unset -f f; declare -i x=1/0", "f() { f; }; ulimit -s; f", "kill -STOP $$", "kill -SEGV $$", "kill -CHLD $$; kill -WINCH $$", "exec bash -c 'exit 3'", "exec cat", "exec -c bash", "exec nosuch",
          "exit 3", "trap 'exit 5' EXIT; exit", "f() { local x; exit 4; }; x=$(exit 3); (f); f", "coproc cat; exit", "read -u 255 x; echo \"$x\"", "read -u 255 -N 3 x; eval 'echo (' ", "cat <&255; cat <&200",
          "mapfile -u 255 x; exit 1", "echo 'open", "cat <<E", "if true; then", "}", "echo \x01\x02\x7f", "x=$'\\001'; . /work/cell-1.sh; . /work/cell-9.sh; cat /work/cell-1.sh",
          "while :; do exec 3<>/tmp/p; break; done; sleep 1000 & disown; suspend", "LINENO=x; SECONDS=-1; RANDOM=1; BASHPID=1; EUID=0; PPID=1", "hash -p /nope cat; enable -f /usr/lib/ced/ced-cells.so cells",
          "LD_PRELOAD=/usr/lib/ced/ced-cells.so CED_CELLS_FD=200 ls /; export CED_CELLS_FD=200 LD_PRELOAD=/usr/lib/ced/ced-cells.so; cat /dev/null")
for states in (0, 2):
    session = opened(states=states)
    for trick in TRICKS:
        if session not in sessions():
            session = opened(states=states)
        error, first = answer(session, trick, limits={"wall_ms": 3000, "cpu_ms": 2000})
        ok(error is None and first["outcome"] not in ("sandbox_error", "lost"), f"{trick[:60]!r} is a cell", (error, first))
        if session not in sessions():
            continue
        error, second = answer(session, "echo second", limits={"wall_ms": 3000})
        ok(error is None and second["outcome"] not in ("sandbox_error", "lost") and second["run_id"] != first["run_id"], "and so is the one after it", (error, second))
        close(session)
runs_well("all that")

# ---- forged words --------------------------------------------------------------------------------

session = opened(states=0)
cell(session, SAY)
error, result = answer(session, f"say {DONE} 0; while :; do :; done", limits={"wall_ms": 10000})
ok(result["outcome"] in ("ok", "wall_limit"), "a forged word ends a cell early", result["outcome"])
if session in sessions():
    error, later = answer(session, "echo second", limits={"wall_ms": 1500})
    ok(error is None and later["outcome"] in ("wall_limit", "cpu_limit") and "second" not in later["stdout"], "its loop goes on in the next cell's time, and on its account", (error, later))
close(session)
for states in (0, 2):
    session = opened(states=states)
    for kind in range(0, 18):
        if session not in sessions():
            session = opened(states=states)
        error, result = answer(session, SAY + f"say {kind} 7; say {kind} 0", limits={"wall_ms": 5000})
        ok(error["code"] == "not_found" if error else result["outcome"] != "lost", f"word {kind} is a cell's own", (error, result))
        if session in sessions():
            client.receive(client.send("run", session=session, code="echo 1", limits={"wall_ms": 5000}))
    close(session)
runs_well("forged words of every kind")
session = opened(states=0)
cell(session, "cat <&200 >/tmp/stolen & true")
error, result = answer(session, "echo mine", limits={"wall_ms": 3000})
ok(error or result["outcome"] != "sandbox_error", "a cell that reads the job socket itself harms its own session", (error, result))
close(session)
session = opened(states=1)
ok(cell(session, SAY + f"(while :; do say {AGREED} 0; done) & say {AGREED} 0; true", limits={"wall_ms": 5000})["run_id"], "a cell that answers for a kept state")
error, result = answer(session, "echo on", limits={"wall_ms": 5000})
ok(error or result["run_id"], "harms its own session", (error, result))
close(session)
runs_well("them")

# ---- state ---------------------------------------------------------------------------------------

session = opened(states=2)
cell(session, "big=$(head -c 2097152 /dev/zero | tr '\\0' x); for i in {1..20000}; do eval \"v$i=$i\"; done", limits={"cpu_ms": 60000})
cell(session, "big=; v7=bad", limits=LONG)
client.call("session.rollback", session=session, state=1)
eq(printed(session, "echo ${#big} $v7 $v20000"), "2097152 7 20000\n", "a state of 2 MiB and 20,000 variables is kept")
for turn in range(30):
    result = cell(session, "exit 1" if turn % 2 else "kill -9 $$")
    ok("state" in result["session"] and result["session"]["state"], f"cell {turn} of thirty ends, and the session goes on", result["session"])
eq(printed(session, "echo ${#big} $v7"), "2097152 7\n", "with all that it had")
close(session)

session = opened(states=0)
for _ in range(300):
    client.receive(client.send("run", session=session, code="f() { for i in 1; do exit 2; done; }; f"))
eq(printed(session, "echo $? ${#FUNCNAME[@]} ${#BASH_SOURCE[@]}"), "2 2 2\n", "300 exits leave a whole shell")
close(session)

# ---- what is seen inside -------------------------------------------------------------------------

session = opened(states=0)
LIST = "env | grep -c -e LD_ -e CED_; ls /proc 2>&1 | head -1; cat /work/cell-*.sh 2>&1 | head -1; ls -A /work /tmp"
result = cell(session, LIST)
ok(result["stdout"].startswith("0\n") and result["stdout"].endswith("/tmp:\n\n/work:\n"), "no variable and no file is ours", result)
FDS = "bash -c 'for fd in {3..255}; do { true >&$fd; } 2>/dev/null && echo $fd; done'; true"
eq(printed(session, FDS), client.call("run", language="bash", code=FDS, limits=LONG)["stdout"], "programs that it starts inherit no descriptor more than in a run")
refused = cell(session, "exec 5<>/dev/tcp/127.0.0.1/1")
ok(refused["exit_code"] and refused["refused_calls"], "no connection is made, and the try is told for that cell", refused)
ok(not cell(session, "true").get("refused_calls"), "and not for the next")
close(session)

for turn in range(2):
    mine = [opened() for _ in range(2)]
    for session in mine:
        cell(session, "secret=1; echo s >/work/left; echo s >/tmp/left; export LEFT=x; sleep 1000 & echo unread")
    for session in mine:
        close(session)
    for _ in range(3):
        result = client.call("run", language="bash", limits=LONG, code="ls -A /work /tmp; echo $LEFT$secret")
        eq((result["outcome"], result["stdout"]), ("ok", "/tmp:\n\n/work:\nmain.sh\n\n"), "the next worker of a slot sees nothing of the session")

# ---- a shell that kills itself, and what it has started ------------------------------------------

session = opened(states=2)
cell(session, "x=1")
ok(wait_until(lambda: sessions()[session]["kept"] == [1]), "a state is kept")
result = cell(session, "sleep 45678 & while ! [[ $(jobs -r) ]]; do :; done; kill -9 $$")
eq((result["session"].get("went_back"), printed(session, "echo $x")), (1, "1\n"), "a shell that kills itself is undone")
ok(wait_until(lambda: not pids_of("45678")), "and so is what it has started", pids_of("45678"))
close(session)

# ---- many ----------------------------------------------------------------------------------------


def held_now():
    return len(children(spawner)), descriptors(daemon_pid(spawner))


def open_and_close(count):
    for turn in range(count):
        session = opened()
        if turn % 2 == 0:
            cell(session, "x=1; sleep 1000 & exit 3")
        close(session)


leaves_nothing(held_now, open_and_close, 6, 30, "30 sessions leave no process and no descriptor")
eq(set(sessions()), set(), "nor a session")
done()
