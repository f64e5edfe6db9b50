#!/bin/bash
# A worker compiles a program while it is checked, and runs nothing of it before the verdict.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/511-gate.py" "$ced_spawner"
