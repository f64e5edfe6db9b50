#!/bin/bash
# A worker compiles a program while it is checked, and runs nothing of it before the verdict.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
ced_programs >/dev/null
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
workers_min = 6
workers_max = 12
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 "$here/511-gate.py" "$ced_spawner"
