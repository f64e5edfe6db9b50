#!/bin/bash
# A program that its policy denies runs through no door: its mark is found nowhere.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/504-policy-mark.py" "$ced_spawner"
