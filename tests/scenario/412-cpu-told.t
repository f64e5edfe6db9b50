#!/bin/bash
# Each run is told what processor time it took, and a budget of it binds, with cgroups and without.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
workers_min = 2
workers_max = 2
budget_uid { cpu_ms = 1000 }
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 "$here/412-cpu-told.py"
