#!/bin/bash
# What others had to learn: docs/THREATS.md says of each lesson where it is tried; here is the rest.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/407-lessons.py" "$ced_spawner"
