#!/bin/bash
# A flood of one user's small runs: how many of them come before a run of another user.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
printf 'cgroups = "auto"\nsocket_mode = "0666"\n' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
/usr/bin/python3 "$here/707-flood.py"
