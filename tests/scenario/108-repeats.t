#!/bin/bash
# An action that its caller named is done once: however often it is asked for, by whom, and whatever dies.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python bash
cp "$here/wire.py" "$here/108-repeats.py" "$work/" # the checkout may be closed to others
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
socket_mode = "0666"
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
repeats() {
	/usr/bin/python3 "$work/108-repeats.py" "$@" >"$work/said" 2>&1
	ok $? "$1"
	report "$work/said"
}

# The daemon first: it has no time for anything.
die() {
	kill -KILL "$(pgrep -f "^ced --spawner-fd.*$ced_state")"
	daemon_kill
	for ((tries = 0; tries < 1200; tries++)); do
		pgrep -f "$ced_state" >/dev/null || break
		sleep 0.1
	done
}

repeats once
repeats conflicts
repeats joins
repeats leaves
repeats cancels
repeats free
repeats storm
repeats many
if [[ $(id -u) == 0 ]]; then
	setpriv --reuid 4001 --regid 4001 --clear-groups \
		/usr/bin/python3 "$work/108-repeats.py" stranger >"$work/said" 2>&1
	ok $? "somebody else's id is another id"
	report "$work/said"
fi

# What was answered is known to whoever comes after a catastrophe; what was not is lost, and is not done again.
first=$(cectl run --id answered --json -c 'import os; print(os.urandom(8).hex())')
cectl run --id unanswered -c 'import time; print("begun", flush=True); time.sleep(30)' --stream \
	--limit wall=40s >"$work/begun" 2>/dev/null &
for ((tries = 0; tries < 1200; tries++)); do
	grep -q begun "$work/begun" && break
	sleep 0.1
done
die
wait
daemon_start
again=$(cectl run --id answered --json -c 'import os; print(os.urandom(8).hex())')
is "$(json "$again" 'it["stdout"]')" "$(json "$first" 'it["stdout"]')" "after kill -9 the answered one is told again"
is "$(json "$again" 'it["cached_from"]')" "$(json "$first" 'it["run_id"]')" "and says from where"
exits 126 "under that id nothing else is done" cectl run --id answered -c 'print(2)'
like "$err" '--id: run .* has this id and other content' "and it says why"
exits 125 "what nobody had an answer to is lost" cectl run --id unanswered --stream \
	-c 'import time; print("begun", flush=True); time.sleep(30)' --limit wall=40s
like "$err" 'lost' "and is not done again"
is "$out" "" "not a line of it"
like "$(cectl show last)" 'from cache +nothing ran for it' "show says so"
like "$(cectl stats)" 'from cache' "stats count them"
for round in 1 2 3; do
	/usr/bin/python3 "$work/108-repeats.py" under_way "$work/noted" "$round" >"$work/asking" 2>&1 &
	asking=$!
	for ((tries = 0; tries < 1200; tries++)); do
		grep -q answered "$work/asking" && break
		sleep 0.1
	done
	sleep "0.$((2 + RANDOM % 7))"
	die
	wait "$asking"
	daemon_start
	repeats afterwards "$work/noted"
done

# Whose contents have left the store is still known to be done.
cectl run --id "for a while" -c 'print("kept" * 1000)' >/dev/null
cectl gc --older-than 0s --reason 'a test' >/dev/null
exits 125 "a repeat of what is not kept any more is told so" cectl run --id "for a while" -c 'print("kept" * 1000)'
like "$err" '--id: run .* did this already, and its result was deleted' "in these words"
is "$out" "" "and is not done again"
is "$(cectl run --cache use -c 'print("kept" * 1000)' | wc -c)" 4001 "the cache does without"

# Told to end, it gives them the time that it gives to all.
for seconds in 2 40; do
	/usr/bin/python3 "$work/108-repeats.py" ends "$seconds" >"$work/ending" 2>&1 &
	asking=$!
	for ((tries = 0; tries < 1200; tries++)); do
		grep -q asked "$work/ending" && break
		sleep 0.1
	done
	sleep 0.5
	daemon_stop
	wait "$asking"
	ok $? "told to end, it answers those that wait for $seconds seconds"
	report "$work/ending"
	daemon_start
done
daemon_stop
done_testing
