#!/bin/bash
# kill -9 with dozens of runs parked, approved and denied at the same time: none of them is lost, none runs
# that nobody let run, and none runs twice.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
admins = {4002, 4003}
queue_ms = 1h
parked_max = 2000
parked_per_caller = 2000
runtime bash { off = true }
runtime javascript { off = true }
CONF
PATH=$(ced_programs)/bin:$PATH
export PATH CED_LOG=$ced_log CED_STATE=$ced_state
/usr/bin/python3 "$here/508-approvals-kill.py" "$work/ced.conf" "${CED_KILL_ROUNDS:-5}"
