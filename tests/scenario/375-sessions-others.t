#!/bin/bash
# Sessions beside other users, agents, approvals, lost zygotes and a lack of memory.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
mkdir "$work/policies"
chmod 755 "$work/policies"
cat >"$work/policies/house.json" <<'JSON'
{ "name": "house", "description": "Asks.", "extends": "review" }
JSON
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
socket_mode = "0666"
users = {4001, 4003}
admins = {4002}
policies = "$work/policies"
workers_min = 2
workers_max = 6
sessions_per_uid = 6
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
chmod 755 "$ced_folder/run"
/usr/bin/python3 -B "$here/375-sessions-others.py" "$ced_spawner" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
exits 0 "the chain holds" cectl audit verify
done_testing
