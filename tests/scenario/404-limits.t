#!/bin/bash
# Each limit is run into: what the outcome is called, what proves it, who held it, and that the
# next run in the same jail knows nothing of it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python bash
printf 'workers_min = 1\nworkers_max = 1\n' >>"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/404-limits.py" "$ced_spawner"
