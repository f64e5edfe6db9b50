#!/bin/bash
# Clients that break the rules get an answer or the door, and nobody else notices.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
message_ms = 1s
unsent_bytes = 4mb
connections_per_uid = 64
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 "$here/102-hostile-clients.py" "$ced_spawner"
