#!/bin/bash
# Ctrl-C, SIGTERM and SIGHUP: what a run has written so far and its id are shown, and it is cancelled.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/011-interrupted.py" "$(pgrep -o -P "$ced_spawner")"
