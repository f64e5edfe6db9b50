#!/bin/bash
# A client that leaves takes its run along, unless it detached it; cancel and wait do as they say.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/106-disconnect.py" "$ced_spawner"
