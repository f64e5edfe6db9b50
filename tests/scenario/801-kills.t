#!/bin/bash
# kill -9 of the daemon, the spawner, a zygote, slots, workers and inspectors, at random moments under load: no
# answered run is missing from the store, nothing of a jail survives, the service comes back.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
runtime bash { off = true }
runtime javascript { off = true }
CONF
PATH=$(ced_programs)/bin:$PATH
export PATH CED_LOG=$ced_log CED_STATE=$ced_state
/usr/bin/python3 "$here/801-kills.py" "$work/ced.conf" "${CED_KILL_ROUNDS:-12}"
