#!/bin/bash
# Sessions as their users see them: cells that build on one another, take turns, end, and are recorded.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python bash
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
mkdir "$work/policies"
chmod 755 "$work/policies"
cat >"$work/policies/house.json" <<'JSON'
{ "name": "house", "description": "Asks.", "extends": "review" }
JSON
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
socket_mode = "0666"
users = {4001, 4004}
admins = {4002}
policies = "$work/policies"
workers_min = 2
workers_max = 8
session_queue = 3
sessions_per_uid = 3
sessions_max = 5
for_uid 4004 { budget_uid { runs_per_minute = 3 } }
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
part() {
	/usr/bin/python3 "$here/360-sessions.py" "$@" >"$work/said" 2>&1
	ok $? "part $1: $(grep -c '^ok' "$work/said") checks"
	report "$work/said"
}
open_door() { chmod 755 "$ced_folder/run"; }

daemon_start
open_door
part cells
part limits
part turns
part users
part contract
part policies
part record "$ced_state"
exits 0 "the chain holds with cells in it" cectl audit verify

session=$(cectl session open --limit memory=256M --idle 5m --task words)
like "$session" '^[0-9A-Z]{26}$' "session open prints the id"
exits 0 "a cell" cectl run --session "$session" -c 'x = 41'
echo 'print(x + 1)' >"$work/cell.py"
is "$(cectl run --session "$session" "$work/cell.py")" 42 "a file is the next one"
exits 126 "what the daemon refuses is told" cectl run --session "$session" --policy strict -c 1
like "$err" 'policy.*settled when the session is opened' "in its words"
exits 126 "limits of the whole session, too" cectl run --session "$session" --limit memory=1G -c 1
like "$(cectl session list)" "$session.*python.*waits +2.*words" "session list"
like "$(cectl runs --session "$session" --columns run,cell,outcome)" ' 2 .*ok' "runs --session"
is "$(cectl check --session "$session" -c 'x' >/dev/null; echo $?)" 0 "check --session"
is "$(cectl run --session "$session" -c 'state = 1')" "" "a cell whose state is kept"
kept=$(cectl session list --json | /usr/bin/python3 -c "import json, sys; print([s['state'] for s in json.load(sys.stdin)['sessions'] if s['session'] == '$session'][0])")
cectl run --session "$session" -c 'state = 2' >/dev/null
is "$(cectl session rollback "$session" "$kept")" "back in state $kept" "session rollback"
is "$(cectl run --session "$session" -c 'print(state)')" 1 "and the session is there"
is "$(cectl run --session "$session" --from "$kept" -c 'print(state)')" 1 "run --from goes back first"
exits 2 "session rollback wants a number" cectl session rollback "$session" soon
exits 1 "a cell that is undone" cectl run --session "$session" --atomic -c '1 / 0'
like "$err" 'this cell is undone; the session is back in state [0-9]+' "says so"
like "$(cectl show last)" 'as cell-[0-9]+\.py' "show has the name of the file in its traceback"
exits 1 "a state that is not kept" cectl session rollback "$session" 99
like "$err" 'not kept: cectl session list shows' "is refused in words of cectl"
like "$err" 'session open --states N keeps more' "with what keeps more"
like "$(cectl session close "$session")" "closed $session after 7 cells" "session close"
exits 1 "what was no session" cectl session show 01M8HSDTWKVZERPBHW4KZ4G9XS
like "$err" 'is not open, and the record has no cell of it' "is not shown"
lost=$(cectl session open --states 0)
cectl run --session "$lost" -c 'x = 1'
exits 3 "a cell that ends its session" cectl run --session "$lost" -c 'import os; os._exit(3)'
like "$(cectl session show "$lost")" 'is over.it ended with cell 2: killed' "session show says which, and why"
exits 1 "once" cectl session close "$session"
like "$err" 'no such session' "and says so"
exits 2 "session close wants one" cectl session close
exits 2 "session takes three words" cectl session delete
like "$(cectl session list 2>&1)" 'no session is open' "none is left"
is "$(printf 'x = 1\ndef f():\n  return x\n\n%%%%\nprint(f())\n' | cectl repl)" 1 "repl reads cells from stdin"
status=$(printf 'print(1)\n%%%%\n1/0\n%%%%\nprint(2)\n' | cectl repl >"$work/out" 2>"$work/err"; echo $?)
is "$status $(<"$work/out")" "1 1" "and ends with the first that fails"
like "$(<"$work/err")" 'ZeroDivisionError' "which it shows"
/usr/bin/python3 "$here/360-sessions-typed.py" >"$work/said" 2>&1
ok $? "repl in a terminal"
report "$work/said"
like "$(cectl session list 2>&1)" 'no session is open' "repl leaves none"

left=$(/usr/bin/python3 "$here/360-sessions.py" leave)
daemon_stop
sed -i 's/^session_queue.*/session_ms = 3s/' "$ced_folder/ced.conf"
daemon_start
open_door
part gone "$left"
part ends
done_testing
