#!/bin/bash
# What stops without dying - a slot, a zygote, an inspector, the daemon - is given up in bounded time.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
workers_min = 2
workers_max = 4
runtime bash { off = true }
runtime javascript { off = true }
CONF
PATH=$(ced_programs)/bin:$PATH
export PATH CED_LOG=$ced_log CED_STATE=$ced_state
/usr/bin/python3 "$here/803-stuck.py" "$work/ced.conf"
