#!/bin/bash
# Thousands of rollbacks of one session.  CED_ROLLBACKS says how many.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
printf 'session_idle_ms = 1h\nsession_ms = 1h\n' >"$ced_folder/ced.conf"
chmod a+r "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/373-rollbacks.py" "$ced_spawner" "${CED_ROLLBACKS:-2000}" "$ced_state"
