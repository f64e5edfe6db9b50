#!/bin/bash
# Ordinary programs (tests/programs/) do in the jail what they do outside.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -B "$here/306-programs.py" "$here/../programs" "$@"
