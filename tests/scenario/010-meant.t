#!/bin/bash
# What is meant is understood: other names of languages, and null for what is not there.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/010-meant.py"
