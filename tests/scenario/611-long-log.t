#!/bin/bash
# Another program leaves a read transaction open: the log of the store grows to its ceiling and no further,
# status and log name the program, and when it ends runs pass again.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
echo 'log_bytes = 16mb' >>"$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/611-long-log.py" "$ced_state" "$ced_log"
status=$?
daemon_stop
exit "$status"
