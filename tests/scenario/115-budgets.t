#!/bin/bash
# What may be spent: refused with what, of what and when, told in each result, reset by an admin operation, and
# remembered over a restart.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
cat >>"$ced_folder/ced.conf" <<CONF
workers_min = 2
workers_max = 2
budget_agent { runs_per_minute = 4 }
for_uid $(id -u) { budget_uid { cpu_ms = 2s } }
for_policy strict { budget_task { failures = 1 } }
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# field JSON-PATH-EXPRESSION: of the document on stdin
field() {
	/usr/bin/python3 -c 'import json, sys; print(eval("d" + sys.argv[1], {"d": json.load(sys.stdin)}))' "$1"
}

run=$(cectl run --json --task good -c 'print(1)')
is "$(field '["attempt"]' <<<"$run")" 1 "a result says which attempt it is"
is "$(field '["budget"]["task"]' <<<"$run")" "{'failures': 3}" "and what is left of its task"
ok "$(($(field '["budget"]["uid"]["cpu_ms"]' <<<"$run") > 2000))" "and of its user"

unlike "$(field '["budget"]' <<<"$run")" failing "a good one counts no failures"
said=('has failed once; after 3 failures in a row, attempts are refused for 10 min'
	'has failed 2 times in a row; after 3 failures in a row, attempts are refused for 10 min'
	'has failed 3 times in a row \(at most 3\): attempts are refused for (10|9[.0-9]*) (min|s), unless an administrator')
for i in 1 2 3; do
	exits 1 "attempt $i fails" cectl run --task bad -c 'raise ValueError'
	like "$err" "task \"bad\" ${said[i - 1]}" "and says how many may"
done
for i in 1 2 3; do
	run=$(cectl run --json --task worse -c '1/0')
done
is "$(json "$run" '[it["budget"]["failing"][k] for k in ("scope", "failures", "most")] + [590000 < it["budget"]["failing"]["retry_after_ms"] <= 600001]')" \
	'["task", 3, 3, true]' "programs are told, too"
run=$(cectl run --json -c '1/0')
unlike "$(field '.get("budget")' <<<"$run")" failing "without a task nothing is counted"
exits 126 "the fourth is not let in" cectl run --task bad -c 'print(1)'
like "$err" 'budget_exceeded.*task "bad".*3 of 3 attempts in a row have failed.*try again in 10 min|9.* min' "and told why and when"
for i in 1 2 3 4 5; do
	cectl check --agent checks -c 'print(1)' >/dev/null
done
is "$(json "$(cectl budgets --json)" '[b["name"] for b in it["budgets"] if b.get("name") == "checks"]')" "[]" "checks are not counted"
exits 0 "another task is" cectl run --task other -c 'print(1)'
run=$(cectl run --json --task bad -c 'print(1)')
is "$(field '["budget"]["exceeded"]["what"]' <<<"$run")" failures "programs are told as well"
ok "$(($(field '["budget"]["exceeded"]["retry_after_ms"]' <<<"$run") < 500000))" "in milliseconds"
like "$(cectl explain last)" 'budget' "explain speaks of it"
exits 126 "a denied program is not looked at any more" cectl run --task bad --policy strict -c 'import os'
like "$err" 'budget_exceeded' "so that it cannot try out the policy"
exits 1 "a policy may have a bound of its own" cectl run --task once --policy strict -c '1/0'
exits 126 "which is lower" cectl run --task once --policy strict -c 'print(1)'
exits 0 "and is that policy's alone" cectl run --task once -c 'print(1)'

# Of a program, its input, what it writes to its streams and what it leaves, all that is stored.
cectl run --task stored -a '*' -c "open('left', 'w').write('x' * 5000); print('y' * 3000) # $(printf 'z%.0s' {1..2000})" -- "$(printf 'a%.0s' {1..1000})" >/dev/null
stored() {
	json "$(cectl budgets --json)" '[b["stored_bytes"] for b in it["budgets"] if b.get("name") == "stored"]'
}
before=$(stored)
ok "$(($(tr -d '[]' <<<"$before") < 11000))" "what a run stores is counted whole"

# What is told again under its id has run once.
for i in 1 2 3 4; do
	cectl run --task again --id once-and-again -c '1/0' >/dev/null 2>&1
done
again() {
	json "$(cectl budgets --json)" '[[b["attempts"], b["failures"], b["runs_per_minute"]] for b in it["budgets"] if b.get("name") == "again"]'
}
is "$(again)" "[[1, 1, 1]]" "what is told again under its id is not counted again"

daemon_stop
daemon_start
is "$(stored)" "$before" "and is the same after a restart"
is "$(again)" "[[1, 1, 1]]" "nor is it then"
exits 126 "a restart forgets none of it" cectl run --task bad -c 'print(1)'
like "$(cectl budgets)" 'task +bad [^:]* 3 +3' "cectl budgets tells who has spent what"
exits 0 "reset" cectl budgets reset --task bad --reason 'bug is fixed'
exits 0 "and it is let in again" cectl run --task bad -c 'print(1)'
like "$(cectl acts)" 'reset_budget.*bug is fixed' "the reset is recorded"
exits 1 "one more fails" cectl run --task bad -c '1/0'
daemon_stop
daemon_start
run=$(cectl run --json --task bad -c 'print(1)')
is "$(field '["budget"]["task"]["failures"]' <<<"$run")" 3 "what was reset stays so over a restart"

for i in 1 2 3 4; do
	cectl run --agent fast -c 'pass'
done
exits 126 "runs within a minute" cectl run --agent fast -c 'pass'
like "$err" 'agent "fast".*4 of 4 runs began within a minute' "are bounded by agent"
exits 0 "another agent's are its own" cectl run --agent slow -c 'pass'
for i in 1 2 3; do
	cectl run -c 'while True: pass' --limit cpu=900ms --limit wall=60s >/dev/null 2>&1
done
exits 126 "cpu time within the window" cectl run -c 'print(1)'
like "$err" "uid $(id -u).*of 2000 ms of cpu time are spent" "is bounded by user"
exits 2 "a reset asks for whose" cectl budgets reset
like "$err" 'name --uid, --agent or --task' "by its options"
exits 126 "and resets nothing" cectl run -c 'print(1)'
exits 0 "as long as it is not reset" cectl budgets reset --uid "$(id -u)"
exits 0 "then it runs" cectl run -c 'print(1)'
is "$(json "$(cectl runs --json --outcome budget_exceeded)" 'len(it["runs"]) > 5')" true "each refusal is on the record"
if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	exits 1 "reset is for administrators" setpriv --reuid 4001 --regid 4001 --clear-groups cectl budgets reset --uid 0
	setpriv --reuid 4001 --regid 4001 --clear-groups cectl run -c 'pass'
	is "$(json "$(setpriv --reuid 4001 --regid 4001 --clear-groups cectl budgets --json)" 'set(b["uid"] for b in it["budgets"])')" \
		"{4001}" "and others see their own alone"
fi
done_testing
