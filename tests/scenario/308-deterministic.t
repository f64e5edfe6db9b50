#!/bin/bash
# What makes two runs differ, and what makes them the same on purpose.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
ced_arguments=(--config "$ced_folder/ced.conf")
: >"$ced_folder/ced.conf"
[[ $(id -u) == 0 ]] || echo 'cgroups = "auto"' >>"$ced_folder/ced.conf"
/usr/bin/python3 -c 'import numpy' 2>/dev/null &&
	echo 'runtime python-data { preload = {"random", "numpy", "numpy.random"} }' >>"$ced_folder/ced.conf"
daemon_start
/usr/bin/python3 -B "$here/308-deterministic.py"
