#!/bin/bash
# Cells of a session display values and call tools.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/367-cells-show-and-call.py"
