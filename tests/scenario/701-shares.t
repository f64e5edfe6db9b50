#!/bin/bash
# What clients may hold, of memory and of connections, has a ceiling, and nobody else notices who is at it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
workers_min = 2
workers_max = 4
workers_reserve = 2
message_ms = 60s
message_bytes = 8mb
unsent_bytes = 4mb
held_bytes = 128mb
held_bytes_per_uid = 64mb
CONF
ced_arguments=(--config "$work/ced.conf")
ulimit -n 1024
daemon_start
/usr/bin/python3 "$here/701-shares.py" "$ced_spawner"
