#!/bin/bash
# A run is known to its client before it has begun, and is cancelled and waited for by the client's own names.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/107-run-started.py"
