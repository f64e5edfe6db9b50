#!/bin/bash
# The recipes that need sessions, settings or a second user print what their pages show.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/recipes.sh"
. "$here/node_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups, and an approver is another user"
node_client_build || bail "clients/node does not build"
mkdir node_modules && ln -s "$client" node_modules/ced
chmod -R a+rX examples
data=
if /usr/bin/python3 -c 'import matplotlib, pandas' 2>/dev/null; then
	data='runtime python-data { workers_min = 1 workers_max = 2 }'
fi
cat >"$ced_folder/ced.conf" <<CONF
socket_mode = "0666"
approvers = {4002}
policies = "$work/examples/code-mode/policies"
budget_agent { runs_per_minute = 2 cpu_ms = 1min }
limits { wall_ms = 20s cpu_ms = 20s }
$data
CONF
chmod 644 "$ced_folder/ced.conf"
chmod 755 "$ced_folder/run"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

for name in notebook e2b tree-search ${data:+report}; do
	recipe "$name"
done
[[ -n $data ]] || diag "no matplotlib and pandas here: examples/report is not run"
is "$(cectl session list 2>&1)" "cectl: no session is open" "and they leave no session"
attempt=$(cectl runs -n 1 --text subtract --json)
session=$(json "$attempt" 'it["runs"][0]["session"]')
like "$(cectl show "$(json "$attempt" 'it["runs"][0]["run_id"]')")" "session +$session, cell 22, began in state" \
	"show tells the session of a cell"
tree=$(cectl session show "$session")
like "$tree" "^session $session is over"$'\n' "session show knows sessions that are over"
is "$(grep -c ' exit  undone$' <<<"$tree")" 1 "with the cell that was undone"
like "$tree" $'\n {4,} +[0-9]+  n = n \\* 2' "and indents branches"
exits 1 "session show of none" cectl session show 01JD3H3V6T6Q2Y4N8C5R7W9XZA
like "$err" 'session 01JD3H3V6T6Q2Y4N8C5R7W9XZA is not open, and the record has no cell of it' "says so"
exits 2 "session show wants one" cectl session show

# Ports of a network of its own are free.
recipe web-app unshare --net /bin/sh -c 'ip link set lo up && exec "$@"' sh

# User 4002 approves the refund.
as_approver() {
	setpriv --reuid 4002 --regid 4002 --clear-groups "$(command -v cectl)" "$@"
}
approver() {
	local asked
	as_approver watch -n 1 -k asked --json >asked.json
	asked=$(<asked.json)
	as_approver approve "$(json "$asked" 'it["run_id"]')" --call "$(json "$asked" 'it["call"]')" --reason 'it is true'
}
approver >approver.log 2>&1 &
approver=$!
for _ in {1..600}; do
	[[ $(json "$(cectl status --json)" 'it["subscriptions"]') == 1 ]] && break
	sleep 0.1
done
recipe code-mode
like "$(cectl show last)" 'refund.*bad_arguments' "the record has the calls"
like "$(cectl show last)" 'approved by uid 4002' "and who approved"
wait "$approver"
ok $? "which worked by the command that was printed"
done_testing
