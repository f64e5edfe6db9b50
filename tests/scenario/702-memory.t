#!/bin/bash
# What a client that never reads made the daemon hold goes back to the system when it has gone.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/702-memory.py" "$ced_spawner"
