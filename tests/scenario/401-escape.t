#!/bin/bash
# Programs that try to get out of the jail, or to see out of it, find every way closed.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
printf 'workers_min = 4\nworkers_max = 4\n' >>"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/401-escape.py" "$ced_spawner"
