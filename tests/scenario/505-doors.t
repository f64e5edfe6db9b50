#!/bin/bash
# The matrix: programs that a policy denies, through every door that leads to a worker.  Their mark is found nowhere.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cp "$here/wire.py" "$here/505-doors.py" "$work/"
CED_METHODS=$(dirname "$(dirname "$here")")/proto/method/method_table.h
export CED_METHODS CED_STATE=$ced_state
daemon_start
doors() {
	/usr/bin/python3 "$here/505-doors.py" "$1" >"$work/said" 2>&1
	ok $? "$2"
	report "$work/said"
}
doors before "no door lets a denied program through"
daemon_kill
for ((tries = 0; tries < 1200; tries++)); do
	pgrep -f "$ced_state" >/dev/null || break
	sleep 0.1
done
daemon_start
doors after "nor does one of a daemon that has forgotten its verdicts, and not what was done"
done_testing
