#!/bin/bash
# Hundreds of runs that were approved when the daemon was killed: the next one continues them all, and
# refuses none because too many come at once.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
admins = {4002}
workers_min = 1
workers_max = 2
queue_ms = 1h
parked_max = 500
parked_per_caller = 500
CONF
PATH=$(ced_programs)/bin:$PATH
export PATH CED_LOG=$ced_log CED_STATE=$ced_state
/usr/bin/python3 "$here/510-many-approved.py" "$work/ced.conf"
