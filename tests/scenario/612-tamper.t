#!/bin/bash
# Somebody changes the store, or the second file, between two starts: what the daemon does, and what verification says.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
printf 'cgroups = "auto"\n' >"$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
second=$ced_state/checkpoints.log
alarm() {
	json "$(cectl status --json)" 'it["audit"]["alarm"]'
}
sql() {
	/usr/bin/python3 - "$ced_state/ced.db" "$1" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.executescript(sys.argv[2])
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
PYTHON
	chown --reference="$ced_state" "$ced_state"/ced.db*
}
as() {
	setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}
start() {
	: >"$ced_log"
	daemon_start
	chmod 777 "$(dirname "$CED_SOCKET")" && chmod 666 "$CED_SOCKET"
}
asks=$'import ctypes\nprint("asked")'
pays='import os; print(os.urandom(8).hex())'

# --- rows that decide what runs ------------------------------------------------------------------

start
exits 0 "an action is done" cectl run --id pay-100 -c "$pays"
paid=$out
for part in changed gone edited; do
	as 4001 cectl run --policy review --detach -c "$asks # $part" >"$work/$part" 2>/dev/null
done
started=$(as 4001 cectl run --policy review --detach -c "$asks # started" 2>/dev/null)
exits 0 "a later one is approved" cectl approve "$started"
exits 0 "and runs" cectl wait "$started"
exits 0 "nobody has touched anything" cectl audit verify
daemon_stop
key="(SELECT key FROM runs WHERE run_id = '$(cat "$work/changed")')"
other="(SELECT key FROM runs WHERE run_id = '$(cat "$work/edited")')"
sql "DELETE FROM actions; UPDATE parked SET verdict = '{\"name\":\"review\",\"decision\":\"ask\",\"findings\":[]}' WHERE key = $key;
	UPDATE records SET code = code || char(10) || 'print(\"more\")' WHERE key = $other;
	DELETE FROM parked WHERE key = (SELECT key FROM runs WHERE run_id = '$(cat "$work/gone")')"
start
exits 0 "an action whose name was taken out" cectl run --id pay-100 -c "$pays"
is "$out" "$paid" "is told again, and not done again"
like "$(cat "$ced_log")" "approval.changed run_id=$(cat "$work/changed")" "the daemon says at the start that a run that waits was changed"
exits 0 "approvers" cectl approvals
like "$out" "$(cat "$work/changed").*this was changed in the store" "are told of a verdict that was changed"
like "$out" "$(cat "$work/edited").*this was changed in the store" "and of a program that was changed"
for part in changed edited; do
	exits 1 "one that was $part cannot be approved" cectl approve "$(cat "$work/$part")"
	like "$err" 'its record was changed in the store' "and the message says why"
	exits 0 "it can be denied" cectl deny "$(cat "$work/$part")" --reason 'changed'
done
exits 1 "verification finds the rest" cectl audit verify
like "$out" 'the name of a run that must not be done twice is missing' "the name"
like "$out" 'a run that waited for approval was lost: its row was removed' "and the run whose row is gone"

# --- decisions that nobody made ------------------------------------------------------------------

as 4001 cectl run --policy review --detach -c "$asks # forged" >"$work/forged" 2>/dev/null
cectl deny "$(as 4001 cectl run --policy review --detach -c "$asks # denied" 2>/dev/null)" >/dev/null
cectl block 4009 --reason 'no more' >/dev/null
daemon_stop
sql "UPDATE parked SET decision = 'approved', act = (SELECT max(act) FROM acts); DELETE FROM blocks"
start
like "$(cectl approvals)" "$(cat "$work/forged")" "a run that no act approved waits on"
exits 126 "a user whom an act blocked stays blocked" as 4009 cectl run -c 'print(1)'
exits 1 "and verification finds both" cectl audit verify
like "$out" 'no act made this decision' "the decision"
like "$out" 'an act blocked this user, but it is not blocked' "and the user"

# --- the second file -----------------------------------------------------------------------------

# shellcheck disable=SC2016 # eval expands them
ways=('rm "$second"' ': >"$second"' 'sed -i "\$d" "$second"')
names=(removed emptied 'cut by its last line')
for i in 0 1 2; do
	cectl run -c 'print(1)' >/dev/null
	daemon_stop
	eval "${ways[i]}"
	start
	like "$(alarm)" 'the second file lacks the checkpoint' "a second file that was ${names[i]} is told at the start"
	like "$(cat "$ced_log")" 'audit.alarm why="the second file lacks' "also in the log"
	daemon_stop
	start
	is "$(alarm)" None "the next start finds what was written since"
done
like "$(cectl acts)" 'audit.alarm.*the second file lacks' "it is in the record"
: >"$second"
cectl audit verify >"$work/verified"
like "$(cat "$work/verified")" 'the second file lacks the checkpoint' "verification finds one that was emptied while the daemon runs"
cectl run -c 'print(1)' >/dev/null
cectl audit checkpoint >/dev/null
like "$(alarm)" 'while the daemon ran' "and so does the next checkpoint"
daemon_stop
done_testing
