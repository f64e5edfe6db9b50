#!/bin/bash
# Tools: a program calls functions of its client.  What it gets, what the client sees, what is
# recorded, and that only runs with tools have them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/330-tools.py"
