#!/bin/bash
# Kept states of sessions: going back, branches, cells that are undone, and what attacks them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
cat >"$ced_folder/ced.conf" <<CONF
workers_min = 4
workers_max = 4
workers_reserve = 0
sessions_per_uid = 8
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/362-states.py" "$ced_spawner" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
verdict=$(cectl audit verify 2>&1)
ok $? "the record holds" "$verdict"
done_testing
