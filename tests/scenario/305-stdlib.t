#!/bin/bash
# Every module of the standard library is imported inside as it is outside.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
# All are sent at once, and the machine may be busy.
printf '%s\n' 'cgroups = "auto"' 'queue_ms = 1h' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 -I -B "$here/305-stdlib.py"
