#!/bin/bash
# A wall clock that is years ahead when the daemon starts takes no contents away for their age.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python

ahead() {
	/usr/bin/python3 -c 'import struct, sys; open(sys.argv[1], "r+b").write(struct.pack("=q", int(sys.argv[2])))' \
		"$ced_folder/clock" "$1"
}
: >"$ced_folder/clock"
ahead 0
chmod 644 "$ced_folder/clock"
cp "$CED_BUILD/tests/libclock_shim.so" "$ced_folder/"
chmod 755 "$ced_folder/libclock_shim.so"
export CED_TEST_CLOCK=$ced_folder/clock
start() {
	export LD_PRELOAD=$ced_folder/libclock_shim.so
	daemon_start
	unset LD_PRELOAD
}
cat >"$ced_folder/ced.conf" <<'CONF'
cgroups = "auto"
keep_days = 30
keep_check_ms = 1s
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
# looked: waits until retention has looked twice.
looked() {
	local tries before
	before=$(json "$(cectl status --json)" 'it["gc"]["times"]')
	for ((tries = 0; tries < 1200; tries++)); do
		(($(json "$(cectl status --json)" 'it["gc"]["times"]') >= before + 2)) && return 0
		sleep 0.1
	done
	return 1
}
# kept: how many of the twenty runs have their output.
kept() {
	local run count=0
	while read -r run; do
		[[ $(cectl output "$run" 2>/dev/null) == kept ]] && count=$((count + 1))
	done <"$work/runs"
	echo "$count"
}

start
for ((i = 0; i < 20; i++)); do
	cectl run --json -c 'print("kept")' |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])'
done >"$work/runs"
daemon_stop

year=$((365 * 86400000))
ahead "$year"
start
looked
ok $? "a year ahead at the start: retention looks"
is "$(kept)" 20 "and takes nothing"
like "$(cat "$ced_log")" 'clock.doubted by_ms=3[0-9]*' "the log says that the clock is doubted"
ahead_days=$(json "$(cectl status --json)" 'it["clock"]["doubted_ms"] // 86400000')
[[ $ahead_days == 36[45] ]]
ok $? "and the status by how much"
exits 1 "gc by age is refused meanwhile" cectl gc --older-than 30d
is "$(kept)" 20 "and takes nothing either"
like "$(cectl gc --older-than 30d 2>&1)" 'went ahead by 36[45] days' "with the reason"
exits 0 "gc by number is not" cectl gc --keep-runs 1000
cectl run -c 'print("ahead")' >"$work/out"
daemon_stop

start
looked
ok $? "a second start with that clock, which has written a record by now"
is "$(kept)" 20 "and it takes nothing"
daemon_stop

rm "$ced_state/ced.mark"
start
looked
ok $? "a start without a mark"
is "$(kept)" 20 "takes nothing on the first day"
daemon_stop
done_testing
