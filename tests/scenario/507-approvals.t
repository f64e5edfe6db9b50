#!/bin/bash
# Runs that wait for a person: who may say what, exactly once, and what an approval does not do.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python bash
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
mkdir "$work/policies"
chmod 755 "$work/policies"
cat >"$work/policies/house.json" <<'JSON'
{ "name": "house", "description": "Asks.", "extends": "review" }
JSON
cat >"$work/policies/asks.json" <<'JSON'
{ "name": "asks", "description": "Asks about all.", "extends": "review", "rules": { "*": "ask" } }
JSON
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
admins = {4002, 4003}
policies = "$work/policies"
parked_per_caller = 20
parked_max = 24
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
open_socket() { chmod 777 "$(dirname "$CED_SOCKET")" && chmod 666 "$CED_SOCKET"; }
as() {
	local uid=$1
	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
}
daemon_start
open_socket
/usr/bin/python3 "$here/507-approvals.py" >"$work/said" 2>&1
ok $? "raw clients ask, decide and are told"
report "$work/said"

code=$'import ctypes\nprint("\e[2J\u202eevil", 6 * 7)  # '$(printf 'x%.0s' {1..300})'END'
exits 0 "a run that waits is told apart" as 4001 cectl run --policy house --detach --agent ann -c "$code"
id=$out
like "$err" 'waits for approval.*house asks.*python.import.dangerous' "and why, on stderr"
exits 124 "wait gives up when told to" as 4001 cectl wait "$id" --timeout 100ms
like "$err" 'still waits for approval' "and says what for"
like "$(as 4001 cectl runs)" "$id.*parked" "runs says so"
exits 0 "approvals" cectl approvals
like "$out" "$id.*uid 4001.*agent +ann.*python.import.dangerous.*import ctypes" "says who, what, the findings and the code"
unlike "$out" $'\e|\u202e' "with control characters escaped"
like "$out" '\\x1b\[2J\\u\{202e\}evil' "and visible"
like "$out" 'xxxEND' "and no line cut"
exits 1 "for approvers only" as 4001 cectl approvals
exits 0 "approve" cectl approve "$id" --reason 'looked at it'
exits 0 "it ends as it does" as 4001 cectl wait "$id"
like "$(cectl show "$id")" 'approved.*uid 0.*looked at it' "show says who let it run"
like "$(cectl trace "$id")" 'approval.asked.*approval.given.*by uid 0' "and the trace when"
like "$(cectl acts)" 'approvals.approve.*looked at it' "and the record of acts"

exits 0 "another" as 4001 cectl run --policy house --detach -c 'import ctypes; print(1)'
id=$out
exits 1 "nobody approves his own" as 4001 cectl approve "$id"
exits 0 "deny" cectl deny "$id" --reason 'use json'
exits 126 "it ends refused" as 4001 cectl wait "$id"
like "$err" 'approval_denied: .*uid 0.* use json' "with the reason"
like "$(as 4001 cectl explain "$id")" 'use json' "explain knows it too"
exits 1 "once is enough" cectl approve "$id"
like "$err" 'conflict.*approval_denied' "and it says why"

exits 0 "a third" as 4001 cectl run --policy house --detach -c 'import ctypes; print(2)'
exits 0 "approve for the program" cectl approve "$out" --code-hash --ttl 1h --count 3
like "$out" 'approved for 59 min.*more uses: 2.*cectl revoke' "says for how long"
grant=$(json "$(cectl approvals --json)" 'it["grants"][0]["act"]')
is "$(as 4001 cectl run --policy house -c 'import ctypes; print(2)')" 2 "it is not asked about again"
like "$(cectl approvals)" "$grant +4001 +python +house +.* 1 +0 " "and counted"
exits 0 "revoke" cectl revoke "$grant"
exits 0 "then it is" as 4001 cectl run --policy house --detach -c 'import ctypes; print(2)'
like "$err" 'waits for approval' "asked about again"
exits 1 "what holds no more cannot be revoked" cectl revoke "$grant"

as 4001 cectl run --policy house -c 'import ctypes; print(3)' >"$work/out" 2>"$work/err" &
client=$!
for _ in {1..100}; do
	grep -q 'waits for approval' "$work/err" && break
	sleep 0.05
done
daemon_stop
wait "$client"
is $? 125 "a client that waits is told when the daemon ends"
like "$(cat "$work/err")" 'draining.*still waits for approval' "and that the run does not"
daemon_start
open_socket
is "$(json "$(cectl approvals --json)" 'len(it["waiting"])')" 2 "it is there in the next life"
id=$(json "$(cectl approvals --json)" 'it["waiting"][1]["run_id"]')
exits 0 "and can be approved" cectl approve "$id"
is "$(as 4001 cectl wait "$id")" 3 "and runs"

echo 'x = 6' >"$work/helper.py"
with_file() { as 4001 cectl run --policy house "$@" --file "$work/helper.py:helper.py" -c $'import ctypes\nimport helper\nprint(helper.x)'; }
id=$(with_file --detach 2>/dev/null)
secret=$(TOKEN=a-secret-of-somebody as 4001 cectl run --policy house --detach --secret TOKEN -c $'import ctypes\nprint("a-secret-" + "of-somebody")' 2>/dev/null)
daemon_stop
daemon_start
open_socket
exits 0 "one with files can be approved for its program then, too" cectl approve "$id" --code-hash --count 2
is "$(as 4001 cectl wait "$id")" 6 "and runs"
is "$(with_file)" 6 "and once more without a question"
exits 1 "one that came with secrets, which are stored nowhere, cannot be run any more" cectl approve "$secret"
like "$err" 'came with secrets' "and says why"
exits 0 "only denied" cectl deny "$secret"

# The policy that counts is the one of the day.
run_under() {
	printf '%s\n' "$1" >"$work/policies/house.json"
	daemon_stop
	daemon_start
	open_socket
}
id=$(as 4001 cectl run --policy house --detach -c $'import ctypes\nimport fcntl\nprint(4)' 2>/dev/null)
run_under '{ "name": "house", "description": "Denies.", "extends": "review", "rules": { "python.import.dangerous": "deny" } }'
exits 0 "approved under the policy of yesterday" cectl approve "$id"
exits 126 "it is denied by that of today" as 4001 cectl wait "$id"
like "$err" 'policy_denied.*house denies it' "and never runs"
run_under '{ "name": "house", "description": "Asks.", "extends": "review" }'
id=$(as 4001 cectl run --policy house --detach -c $'import ctypes\nimport fcntl\nprint(5)' 2>/dev/null)
run_under '{ "name": "house", "description": "Asks more.", "extends": "review", "lists_add": { "python.imports.dangerous": ["string"] } }'
exits 0 "approved for what another policy found" cectl approve "$id"
for _ in {1..50}; do
	[[ $(json "$(cectl approvals "$id" --json)" 'len(it["waiting"])') == 1 ]] && break
	sleep 0.1
done
like "$(cectl approvals "$id")" 'house, which asks' "it is asked about again"
exits 0 "and once more" cectl approve "$id"
is "$(as 4001 cectl wait "$id")" 5 "then it runs"
done_testing
