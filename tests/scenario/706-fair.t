#!/bin/bash
# One user cannot keep the others out: not with long runs, not with many, not with idle connections.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
socket_mode = "0666"
workers_min = 2
workers_max = 4
workers_reserve = 4
queue_max = 24
queue_per_caller = 12
queue_ms = 4s
connections_max = 13
connections_per_uid = 6
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 "$here/706-fair.py"
