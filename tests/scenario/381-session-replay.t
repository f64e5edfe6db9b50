#!/bin/bash
# shellcheck disable=SC2016 # programs stand in single quotes
# The recorded cells of a session run again in a new one.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
cat >"$ced_folder/ced.conf" <<CONF
socket_mode = "0666"
users = {4001, 4002}
workers_min = 2
workers_max = 16
sessions_max = 12
sessions_per_uid = 12
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
chmod 755 "$ced_folder/run" # another user may connect
/usr/bin/python3 -B "$here/381-session-replay.py" "$work" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"

# --- cectl -------------------------------------------------------------------------------------

session=$(cectl session open --language python --states 4 --limit memory=300M -e WHO=me)
cell() {
	cectl run --session "$session" -c "$1" >/dev/null 2>&1
}
cell 'import os; x = [1]'
cell 'x.append(2); print(os.environ["WHO"], x)'
cell 'x.append(99); print(x)'
exits 0 "a session goes back" cectl session rollback "$session" 2
cell 'x.append(3); print(x)'
cell 'import os; os._exit(3)'
cell '1 / 0'
exits 0 "an open session is replayed" cectl session replay "$session"
like "$out" 'same +cell 1 .*same +cell 2 .*same +cell 4 .*same +cell 6 +exception.*4 of 4 cells' \
	"with the cells that survive, under their numbers"
unlike "$out" 'cell 3|cell 5' "and without those that were undone or left behind"
exits 0 "up to a state" cectl session replay "$session" 3
like "$out" 'cell 1.*cell 2.*cell 3.*3 of 3' "also one of another branch"
exits 1 "a cell that made no state leads to none" cectl session replay "$session" 5
like "$err" 'cell 5 .*made no state' "which is said"
exits 1 "and neither does one that never was" cectl session replay "$session" 77
like "$err" 'no cell 77' "which is said, too"
exits 2 "a state is a number" cectl session replay "$session" x
exits 2 "limits are those of the record" cectl session replay "$session" --limit memory=1G
like "$err" 'leave --limit out' "which is said"
exits 2 "a session must be named" cectl session replay
exits 2 "by its whole id" cectl session show zz
like "$err" 'SESSION "zz": it is not a whole id.*cectl session list' "which is said"
exits 2 "a state gets a name without blanks" cectl session keep "$session" 'my state'
like "$err" 'NAME "my state": write a name of up to 32 letters' "and is told the rule"
exits 0 "the session is closed" cectl session close "$session"
exits 0 "one that is over is replayed, and stays open" cectl session replay "$session" --leave-open --json
again=$(json "$out" "it['session']")
is "$(json "$out" "[it['same'], it['open'], it['state'], it['cells'], [r['result']['session']['cell'] for r in it['replays']]]")" \
	'[true, true, 6, 4, [1, 2, 4, 6]]' "as JSON"
is "$(cectl run --session "$again" -c 'print(x)')" '[1, 2, 3]' "so a session that was lost goes on"
is "$(json "$(cectl session list --json)" "[(s['state'], s['cells']) for s in it['sessions'] if s['session'] == '$again']")" '[[7, 5]]' \
	"its cells have the numbers of the record, and it counts those that ran"
exits 0 "it ends" cectl session close "$again"
exits 1 "of a session that is not there nothing is known" cectl session replay 01ARZ3NDEKTSV4RRFFQ69G5FAV
like "$err" 'no cell of session' "which is said"

session=$(cectl session open)
cell 'import time; x = time.time_ns()'
cell 'print(x)'
cell 'print("the same")'
exits 1 "what differs is told" cectl session replay "$session"
like "$out" 'same +cell 1.*differs +cell 2 .*stdout.*same +cell 3.*2 of 3 cells' "by cell, and where"

session=$(cectl session open --language javascript)
cell 'let n = 20'
cell 'n += 1; console.log(n)'
exits 0 "a session of node is replayed" cectl session replay "$session"
session=$(cectl session open --language bash)
cell 'n=20; cd /tmp; echo kept >file'
cell 'echo $((n + 1)) "$PWD" "$(<file)"'
exits 0 "and one of bash" cectl session replay "$session"
like "$out" '2 of 2 cells' "with all its cells"

session=$(cectl session open)
cectl run --session "$session" --tool 'upper=jq -c ".text |= ascii_upcase"' -c 'got = tools.upper(text="a")["text"]' >/dev/null
cell 'print(got)'
exits 0 "calls of tools are answered from the record" cectl session replay "$session"
exits 2 "a tool that no cell had" cectl session replay "$session" --tool lower=cat
like "$err" 'no tool "lower".* it has: upper' "is refused with those that they had"
exits 1 "or by a command" cectl session replay "$session" --tool 'upper=jq -c ".text = \"other\""'
like "$out" 'same +cell 1.*differs +cell 2' "and then a later cell may differ"

exits 0 "the chain holds" cectl audit verify
done_testing
