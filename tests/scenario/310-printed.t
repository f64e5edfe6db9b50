#!/bin/bash
# What a program printed is in its result, however it ends, and reaches who watches at once.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
echo 'runtime python-mp { workers_min = 1 workers_max = 2 }' >>"$ced_folder/ced.conf"
chmod a+r "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/310-printed.py"
