#!/bin/bash
# The daemon has no descriptor left: it loses no run that is told, and goes on when there are some again.
# Limits of a process may be changed by its own user, so ced has to be that here.
here=$(cd "$(dirname "$0")" && pwd)
if [[ $(id -u) == 0 ]]; then
	. "$here/ordinary.sh"
	as_ordinary_user 805-descriptors
	exit
fi
. "$here/lib.sh"
only python
printf 'zygote_runs = 3\nworkers_min = 1\nworkers_max = 4\n' >>"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/805-descriptors.py" "$ced_spawner"
