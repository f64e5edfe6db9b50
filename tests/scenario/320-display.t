#!/bin/bash
# What a Python program displays comes back, whatever it is, and is never more than what it says of itself.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
has() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
{
	echo 'runtime python-mp { workers_min = 1 workers_max = 2 }'
	has matplotlib && has pandas && echo 'runtime python-data { workers_min = 1 workers_max = 2 }'
} >>"$ced_folder/ced.conf"
chmod a+r "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/320-display.py" "$ced_state" || exit 1
