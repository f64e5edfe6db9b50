#!/bin/bash
# What policies say about calls of tools, and approvers about single calls.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
mkdir "$work/policies"
chmod 755 "$work/policies"
policy() { # NAME EXTENDS TOOLS
	printf '{ "name": "%s", "description": "A test.", "extends": "%s", "tools": %s }\n' "$@" >"$work/policies/$1.json"
}
policy mailers observe '{ "deny": ["drop", "send_all"], "ask": ["send_*"], "allow": ["search", "send_*"] }'
policy mailers-child mailers '{ "ask": [] }'
policy no-drop standard '{ "deny": ["dr*"] }'
policy none standard '{ "allow": [] }'
policy both review '{ "ask": ["send_*"] }'
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
admins = {4002, 4003}
policies = "$work/policies"
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
as() {
	local uid=$1
	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
}
daemon_start
chmod 777 "$(dirname "$CED_SOCKET")" && chmod 666 "$CED_SOCKET"
/usr/bin/python3 -B "$here/333-tools-policy.py" >"$work/said" 2>&1
ok $? "policies and approvers decide about calls"
report "$work/said"

exits 0 "cectl policy show" cectl policy show mailers-child
like "$out" 'calls of tools.*deny +drop send_all.*ask +none.*allow +search send_\*.*others +deny' "shows the lists of a policy"
exits 0 "of a policy without lists" cectl policy show standard
unlike "$out" 'calls of tools' "it shows none"
exits 0 "a command that is denied" as 4001 cectl run --policy mailers --tool 'drop=echo dropped' -c '
try: tools.drop(table="users")
except tools.ToolError as error: print(error.code, error.message)'
is "$out" 'denied policy mailers denies this tool (tools.deny drop)' "does not run"
exits 0 "cectl show" as 4001 cectl show last
like "$out" 'drop.*denied.*tools.deny drop.*users' "has the call with the rule"

mkfifo "$work/events"
cectl watch -k asked --json >"$work/events" &
watch=$!
exec 3<"$work/events"
start_call() { # start_call [COMMAND…]: sets $run: a run whose call waits, of uid 4001 unless COMMAND says otherwise
	[[ $# -gt 0 ]] || set -- as 4001 cectl
	"$@" run --policy mailers --limit call_ms=60000 --limit calls_ms=60000 --limit wall_ms=60000 \
		--tool 'send_mail=jq -c .to' -c '
try: print(tools.send_mail(to="a\u001b[2Jb"))
except tools.ToolError as error: print(error.code, error.message)' >"$work/out" 2>"$work/err" &
	client=$!
	read -r line <&3
	run=$(json "$line" 'it["run_id"]')
}
for _ in {1..600}; do
	[[ $(json "$(cectl status --json)" 'it["subscriptions"]') == 1 ]] && break
	sleep 0.1
done
start_call
exits 0 "cectl approvals" cectl approvals
like "$out" "$run call 1: send_mail.*uid +4001.*mailers, which asks \(tools.ask send_\*\).*arguments" "lists the call"
unlike "$out" $'\e' "with control characters escaped"
exits 0 "cectl approvals RUN" cectl approvals "$run" --call 1
like "$out" "approve.* --call 1" "says how to approve it"
exits 1 "for approvers only" as 4001 cectl approve "$run" --call 1
exits 1 "who forgets the call" cectl approve "$run"
like "$err" "its call 1 of the tool send_mail does: .*--call 1" "is told which one waits"
unlike "$(cectl approvals)" 'as another user' "an approver decides what is not his own"
exits 0 "cectl approve RUN --call" cectl approve "$run" --call 1 --reason 'looked at it'
like "$out" "$run, call 1 \(send_mail\), of uid 4001 is approved" "says what is approved"
wait "$client"
is "$?" 0 "the run goes on"
like "$(cat "$work/err")" "^cectl: run $run, call 1 of send_mail waits for approval, for at most [0-9.]+ s: policy mailers asks \(tools.ask send_\*\)" "cectl run has said that it waits"
like "$(cat "$work/out")" 'a.*b' "and the program gets its answer"
like "$(cectl show "$run")" 'send_mail.*tools.ask send_\*: approved by uid 0, in act [0-9]+: looked at it' "show says who let it"
like "$(cectl acts)" 'approvals.approve.*looked at it' "and the record of acts"
like "$(cectl trace "$run")" 'send_mail +approved by uid 0 +ok' "and trace"
start_call
exits 0 "cectl deny RUN --call" cectl deny "$run" --call 1 --reason 'not there'
wait "$client"
is "$(cat "$work/out")" 'denied uid 0 denied the call: not there' "the program gets the reason"
exits 1 "nothing waits for one that is not there" cectl approvals "$run"
like "$err" 'neither this run nor a call of it waits' "which it says"
start_call cectl
like "$(cectl approvals)" "as another user: .*approve $run --call 1" "somebody else decides about a call of an approver's own run"
exits 1 "not the approver" cectl approve "$run" --call 1
like "$err" 'your own run .*: another user decides' "who is told so"
exits 0 "cectl cancel" cectl cancel "$run"
wait "$client"
kill "$watch"

# A run that was approved after a restart has no client.  Nobody is asked about its calls.
: >"$work/err" # it still says that another one waits
as 4001 cectl run --policy both --tool 'send_mail=cat' -c '
import ctypes
try: tools.send_mail()
except tools.ToolError as error: print(error.code)' >"$work/out" 2>"$work/err" &
client=$!
for _ in {1..600}; do
	grep -q 'waits for approval' "$work/err" && break
	sleep 0.1
done
run=$(json "$(cectl approvals --json)" 'it["waiting"][0]["run_id"]')
daemon_stop
wait "$client"
daemon_start
chmod 777 "$(dirname "$CED_SOCKET")" && chmod 666 "$CED_SOCKET"
exits 0 "cectl approve, after a restart" cectl approve "$run"
exits 0 "cectl wait" as 4001 cectl wait "$run"
is "$out" gone "a call without a client fails at once"
is "$(json "$(cectl show "$run" --json)" 'it["tool_calls"][0]["verdict"]')" refused "and the record says so"
exits 0 "the record" cectl audit verify
like "$out" 'no change found' "verifies"
done_testing
