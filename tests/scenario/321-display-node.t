#!/bin/bash
# What a node program displays comes back over its job socket, and hostile words there do no harm.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -B "$here/321-display-node.py" || exit 1
