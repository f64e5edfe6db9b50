#!/bin/bash
# Kept states where memory, files or places are scarce, and while zygotes are replaced.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
cat >"$ced_folder/ced.conf" <<CONF
workers_min = 2
workers_max = 6
workers_reserve = 0
sessions_per_uid = 8
zygote_runs = 12
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/380-states-scarce.py" "$ced_spawner" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
exits 0 "the chain holds" cectl audit verify
done_testing
