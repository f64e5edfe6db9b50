#!/bin/bash
# A verdict is a matter of the program, never of the host: while inspectors have no processor, and when they are killed.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
ced_programs >/dev/null
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
code_bytes = 1mb
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 "$here/506-inspectors.py" "$ced_spawner"
