#!/bin/bash
# Many runs in a row from eight clients: no error, and nothing is left of them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/705-many-runs.py" "$ced_spawner" "${CED_RUNS:-3000}"
