#!/bin/bash
# kill -9 of ced in each state that a session can be in, time and again under load; CED_KILLS says how often.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
workers_min = 4
runtime bash { off = true }
runtime javascript { off = true }
CONF
PATH=$(ced_programs)/bin:$PATH
export PATH CED_LOG=$ced_log CED_STATE=$ced_state
/usr/bin/python3 "$here/806-session-kills.py" "$work/ced.conf" "${CED_KILLS:-22}"
