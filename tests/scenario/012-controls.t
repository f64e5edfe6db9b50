#!/bin/bash
# Nothing that comes from a program reaches a terminal as it is: no command prints a raw control character.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/012-controls.py"
