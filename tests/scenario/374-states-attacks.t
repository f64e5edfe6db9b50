#!/bin/bash
# Kept states and hostile processes: at the fork, on the way back, with their files.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
cat >"$ced_folder/ced.conf" <<CONF
workers_min = 4
workers_max = 4
workers_reserve = 0
sessions_per_uid = 8
budget_agent { cpu_ms = 4s }
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/374-states-attacks.py" "$ced_spawner" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
is "$(grep -c 'its slot sent no message in time' "$ced_log")" 0 "no slot is stuck with a process that nobody knows"
verdict=$(cectl audit verify 2>&1)
ok $? "the record holds" "$verdict"
done_testing
