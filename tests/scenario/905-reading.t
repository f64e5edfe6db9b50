#!/bin/bash
# What the page for administrators shows of reading the record is what they get.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
exec_status=0
/usr/bin/python3 "$here/905-reading.py" || exec_status=1
exit $exec_status
