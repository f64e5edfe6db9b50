#!/bin/bash
# Tools under attack: programs that speak on the job socket themselves, clients that answer what
# they should not, and ends at the wrong moment.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >>"$ced_folder/ced.conf" <<'END'
message_bytes = 4mb
held_bytes_per_uid = 16mb
unsent_bytes = 4mb
runtime python-mp { workers_min = 1 workers_max = 2 }
END
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/331-tools-attacks.py" "$ced_spawner"
