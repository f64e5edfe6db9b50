#!/bin/bash
# Hostile cells of a session of bash: they deceive their own session at most.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only bash
[[ $(id -u) == 0 ]] || skip_all "only root can look into the cgroups"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
workers_min = 3
workers_max = 5
sessions_max = 4
sessions_per_uid = 4
workers_per_caller = 4
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/369-sessions-bash-attacks.py" "$ced_spawner"
