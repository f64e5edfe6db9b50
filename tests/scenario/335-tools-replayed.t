#!/bin/bash
# A replay answers calls of tools from the record, and asks nobody.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
mkdir "$work/policies"
chmod 755 "$work/policies"
policy() { # TOOLS
	printf '{ "name": "house", "description": "A test.", "extends": "observe", "tools": %s }\n' "$1" >"$work/policies/house.json"
}
policy '{}'
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
policies = "$work/policies"
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/335-tools-replayed.py" record "$work/run" >"$work/said" 2>&1
ok $? "runs are replayed without their client"
report "$work/said"
daemon_stop
policy '{ "ask": ["note"], "deny": ["drop"] }'
daemon_start
/usr/bin/python3 -B "$here/335-tools-replayed.py" policy "$work/run" >"$work/said" 2>&1
ok $? "under a policy that has changed"
report "$work/said"
exits 0 "the record" cectl audit verify
like "$out" 'no change found' "verifies"
done_testing
