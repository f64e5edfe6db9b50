#!/bin/bash
# What README.md shows is what one gets.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || skip_all "no python3-msgpack here"
daemon_start
/usr/bin/python3 "$here/901-readme.py"
