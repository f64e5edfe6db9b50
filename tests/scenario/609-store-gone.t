#!/bin/bash
# Files of the store are removed, replaced or moved away: while the daemon runs, and between two starts.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
printf '%s\n' 'runtime bash { off = true }' 'runtime javascript { off = true }' >>"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")

# runs COUNT: so many runs that are answered; their ids are kept.
runs() {
	local i
	for ((i = 0; i < $1; i++)); do
		cectl run --json -c 'print(1)' | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])'
	done >>"$work/answered"
}
# missing: how many of them the store does not know.
missing() {
	local run count=0
	while read -r run; do
		cectl show --json "$run" >/dev/null 2>&1 || count=$((count + 1))
	done <"$work/answered"
	echo "$count"
}
status() {
	json "$(cectl status --json)" "$1"
}
# until_word WORD: waits until the status says so.
until_word() {
	local tries
	for ((tries = 0; tries < 1200; tries++)); do
		[[ $(status 'it.get("trouble_word")') == "$1" ]] && return 0
		sleep 0.1
	done
	return 1
}

# --- while it runs -----------------------------------------------------------------------------

daemon_start
runs 3
rm "$ced_state"/ced.db*
until_word gone
ok $? "an idle daemon notices that its store was removed"
like "$(cectl status)" 'ced.db was removed while ced uses it' "status says which file, and what it was"
like "$(cat "$ced_log")" 'store.failed trouble=gone' "and so does the log"
like "$(cectl status)" 'before you stop ced, see "A file of the store is gone"' "status does not send anybody to stop it first"
cectl run -c 'print(2)' >"$work/out" 2>"$work/err"
is "$? $(cat "$work/out")" "125 " "a run is refused, and nothing of it is told"
like "$(cat "$work/err")" 'was removed' "with the reason"
daemon_stop
daemon_start
like "$(status 'it["audit"]["alarm"]')" 'the store has 0 links without that one' "the next start tells what is missing"
like "$(cectl acts)" 'audit.alarm' "and has it in the record"
daemon_stop
rm "$ced_state"/*

: >"$work/answered"
daemon_start
runs 5
rm "$ced_state/ced.db-wal"
cectl run -c 'print(2)' >"$work/out" 2>"$work/err"
is "$? $(cat "$work/out")" "125 " "a run is refused when the log alone was removed"
until_word gone
ok $? "and the status says it"
daemon_kill
daemon_start
is "$(missing)" 0 "after kill -9 every answered run is there all the same"
is "$(status 'it["audit"]["alarm"]')" None "so there is no alarm"
exits 0 "and the record verifies" cectl audit verify

# What docs/operations/runbook.md says: copy what the daemon has open, then stop it.
: >"$work/answered"
runs 5
rm "$ced_state"/ced.db*
until_word gone
pid=$(pgrep -o -x -P "$ced_spawner" ced)
# shellcheck disable=SC2010 # it is what the guide tells to type
number=$(ls -lv "/proc/$pid/fd" | grep -m 1 'ced\.db (deleted)' | sed -E 's/.* ([0-9]+) -> .*/\1/')
like "$number" '^[0-9]+$' "the daemon has the removed ced.db open"
cp "/proc/$pid/fd/$number" "$ced_state/ced.db.copy"
daemon_stop
mv "$ced_state/ced.db.copy" "$ced_state/ced.db"
chown --reference="$ced_state" "$ced_state/ced.db"
chmod 600 "$ced_state/ced.db"
daemon_start
is "$(missing)" 0 "a copy from the daemon's open file has every answered run after ced.db was removed"
is "$(status 'it["audit"]["alarm"]')" None "so there is no alarm"
exits 0 "and the record verifies" cectl audit verify

cp "$ced_state/ced.db" "$ced_state/other.db"
chown --reference="$ced_state/ced.db" "$ced_state/other.db"
mv "$ced_state/other.db" "$ced_state/ced.db"
cectl run -c 'print(2)' >"$work/out" 2>"$work/err"
is "$? $(cat "$work/out")" "125 " "a run is refused when another database stands in its place"
like "$(cat "$work/err")" 'was replaced' "with the reason"
daemon_stop
daemon_start
runs 1
mv "$ced_state" "$ced_folder/aside"
until_word gone
ok $? "a folder that is moved away is noticed"
mv "$ced_folder/aside" "$ced_state"
until_word None
ok $? "and it is well again when that is back"
is "$(cectl run -c 'print(6 * 7)')" 42 "programs run"

# --- between two starts ------------------------------------------------------------------------

: >"$work/answered"
runs 5
daemon_stop
cp "$ced_state/ced.db" "$work/alone.db"
exits 0 "after an orderly stop a copy of ced.db alone has the last run" cectl --store "$work/alone.db" show "$(tail -n 1 "$work/answered")"
rm "$ced_state/ced.db-wal" "$ced_state/ced.db-shm"
daemon_start
is "$(missing)" 0 "and without its log every answered run is there"
is "$(status 'it["audit"]["alarm"]')" None "without an alarm"
runs 5
daemon_kill
rm "$ced_state/ced.db-wal" "$ced_state/ced.db-shm"
daemon_start
like "$(status 'it["audit"]["alarm"]')" 'its log was cut off or removed' "a log that was removed after kill -9 is told at the start"
like "$(cat "$ced_log")" 'audit.alarm' "in the log, too"
daemon_stop
daemon_start
is "$(status 'it["audit"]["alarm"]')" None "once: the start after that is quiet"
runs 3
daemon_kill
daemon_start
is "$(status 'it["audit"]["alarm"]')" None "and so is one after kill -9 alone"
daemon_stop

chmod 777 "$ced_state"
chmod 644 "$ced_state/ced.db"
daemon_start
like "$(grep "store.exposed path=\"\?$ced_state\"\? " "$ced_log")" "its mode is 777.* repair=\"chmod 700 $ced_state\"" "a folder that others may write to is told at the start"
like "$(grep 'store.exposed path=[^ ]*ced.db"\? ' "$ced_log")" "its mode is 644.* repair=\"chmod 600 $ced_state/ced.db\"" "and so is a database that others may read"
daemon_stop
chmod 700 "$ced_state"
chmod 600 "$ced_state/ced.db"
daemon_start
is "$(grep -c store.exposed "$ced_log")" 0 "with what it says to type that is over"
daemon_stop

echo 'rollback = "refuse"' >>"$ced_folder/ced.conf"
daemon_start
runs 3
daemon_kill
rm "$ced_state/ced.db-wal"
for start in first second; do
	timeout 60 "$(ced_programs)/bin/ced-spawner" --libexec "$(ced_programs)/libexec/ced" -- \
		--socket "$CED_SOCKET" --state "$ced_state" "${ced_arguments[@]}" >"$work/log" 2>&1
	like "$(cat "$work/log")" 'the mark beside the store.*rollback = .*refuse' "with rollback = \"refuse\" the $start start is refused"
done
mv "$ced_state/ced.mark" "$ced_state/checkpoints.log" "$ced_state/checkpoints.told" "$work/"
daemon_start
is "$(cectl run -c 'print(6 * 7)')" 42 "and with the mark and the second file aside it starts and runs"
is "$(status 'it["audit"]["alarm"]')" None "without an alarm"
done_testing
