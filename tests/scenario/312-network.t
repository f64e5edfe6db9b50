#!/bin/bash
# Who looks for a network is told that a run has none, and what to do instead.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -B "$here/312-network.py"
