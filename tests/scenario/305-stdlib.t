#!/bin/bash
# Every module of the standard library is imported inside as it is outside.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -I -B "$here/305-stdlib.py"
