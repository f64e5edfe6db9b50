#!/bin/bash
# The network of a session: its rules hold for all cells, and only while a cell runs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/nets.sh"
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
mkdir "$work/policies"
chmod 755 "$work/policies"
echo '{ "name": "nets-deny", "description": "A test.", "extends": "observe", "network": "deny" }' \
	>"$work/policies/nets-deny.json"
NETS_MORE="
sessions_per_uid = 8
policies = \"$work/policies\"
"
nets_start ""
/usr/bin/python3 -B "$here/377-session-network.py" "$nets" "$ced_spawner" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
session=$(cectl session open --allow-host "api.test:$(nets_port http)")
is "$(cectl run --session "$session" -c "
import urllib.request
print(urllib.request.urlopen('http://api.test:$(nets_port http)/x').read().decode())")" "GET /x of api.test" \
	"cectl session open --allow-host"
exits 0 "which ends" cectl session close "$session"
exits 0 "the chain holds" cectl audit verify
done_testing
