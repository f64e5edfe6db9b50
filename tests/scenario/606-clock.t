#!/bin/bash
# The wall clock jumps, under load and over a restart: records keep their order, limits their length.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python

# ahead MILLISECONDS: sets the daemon's wall clock.  The daemon has the file mapped, so it is never cut off.
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
start
/usr/bin/python3 "$here/606-clock.py" "$ced_folder/clock" "$ced_log" >"$work/jumps" 2>&1
ok $? "the clock jumps under load"
report "$work/jumps"

# A clock that was an hour ahead when the daemon ended.
daemon_stop
rm -f "$ced_state"/*
ahead 3600000
start
cectl run -c 'print("ahead")' >"$work/out"
before=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
daemon_stop
ahead 0
start
cectl run -c 'print("after")' >"$work/out"
after=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
[[ $after > $before ]]
ok $? "after a restart with the clock an hour back, new runs come behind old ones"
is "$(cectl output last)" after "and the last one is the last one"
like "$(cat "$ced_log")" 'clock.behind.*go on' "the log says so"

# And one that was a year ahead: nobody wants a year of such ids.
daemon_stop
rm -f "$ced_state"/*
ahead 31536000000
start
cectl run -c 'print("ahead")' >"$work/out"
daemon_stop
ahead 0
start
is "$(cectl run -c 'print("now")')" now "after a year back programs run"
like "$(cat "$ced_log")" 'clock.behind.*follow the clock' "and ids follow the clock"
is "$(cectl runs --json --since 1h | /usr/bin/python3 -c 'import json, sys; print(len([run for run in json.load(sys.stdin)["runs"]]))')" 2 "lists by time find both"

# One that is set a year ahead while the daemon runs: that makes no run a year old.
daemon_stop
rm -f "$ced_state"/*
ahead 0
cat >"$ced_folder/ced.conf" <<'CONF'
cgroups = "auto"
keep_days = 1
keep_check_ms = 1s
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
start
cectl run -c 'print("today")' >"$work/out"
# looks: how often retention has looked so far.
looks() {
	json "$(cectl status --json)" 'it["gc"]["times"]'
}
ahead 31536000000
before=$(looks)
for ((i = 0; i < 300 && $(looks) < before + 2; i++)); do
	sleep 0.1
done
(($(looks) >= before + 2))
ok $? "retention looks what is old"
is "$(cectl output last)" today "and takes nothing for a year older than it was"
done_testing
