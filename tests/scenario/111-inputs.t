#!/bin/bash
# What comes with a run.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -B "$here/111-inputs.py"
