#!/bin/bash
# A program that prints for ever is killed at the byte past its limit, whichever way it prints.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/409-flood.py" "$ced_spawner"
