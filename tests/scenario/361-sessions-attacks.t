#!/bin/bash
# Cells that try to work between cells, in other cells or after their session: none of it works.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can look into the cgroups"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
workers_min = 2
workers_max = 3
sessions_max = 8
sessions_per_uid = 8
workers_per_caller = 3
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/361-sessions-attacks.py" "$ced_spawner"
