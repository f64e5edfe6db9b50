#!/bin/bash
# The watchdog hears that the daemon lives as long as programs go through jails, and no longer.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root can stop the processes of jails"

programs=$(ced_programs)
# One language with two workers: then two runs have all there are.
printf '%s\n' 'cgroups = "auto"' 'workers_min = 2' 'workers_max = 2' 'workers_reserve = 0' 'most { wall_ms = 2min }' \
	'runtime bash { off = true }' 'runtime javascript { off = true }' >"$ced_folder/watched.conf"
CED_LOG=$ced_log PYTHONPATH=$here /usr/bin/python3 "$here/225-watchdog.py" "${ced_own[@]}" \
	"$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --config "$ced_folder/watched.conf" \
	--socket "$CED_SOCKET" --state "$ced_state" >"$work/said" 2>&1
ok $? "the watchdog and the canary"
report "$work/said"
like "$(grep canary.failed "$ced_log" | head -n 1)" 'runtime=' "a failure is in the log"
unlike "$(<"$ced_log")" 'Sanitizer' "and nothing else is wrong"
done_testing
