#!/bin/bash
# kill -9 of ced or of its spawner under load, CED_KILLS times: every answered run is in the store, whole,
# the chain over all of it verifies, and the runs in flight are called lost.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
workers_min = 4
checkpoint_ms = 1s
runtime bash { off = true }
runtime javascript { off = true }
CONF
PATH=$(ced_programs)/bin:$PATH
export PATH CED_LOG=$ced_log CED_STATE=$ced_state
/usr/bin/python3 "$here/802-kills-load.py" "$work/ced.conf" "${CED_KILLS:-25}"
