#!/bin/bash
# /dev/stdin, /dev/stdout, /dev/stderr and /dev/fd in every jail, and nothing else with them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -B "$here/311-devices.py"
