#!/bin/bash
# Runs and cells of bash display, and cells of bash call tools.  What an earlier cell kept reaches nobody.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only bash
daemon_start
/usr/bin/python3 "$here/334-shell-tools.py"
