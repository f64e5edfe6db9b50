#!/bin/bash
# The words of cectl: a letter means one thing, a near word is suggested, status explains itself, tables fit.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/013-words.py"
