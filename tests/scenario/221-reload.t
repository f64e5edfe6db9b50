#!/bin/bash
# Settings and policies are read again while the daemon works: no run is lost, no client is refused,
# and a file with a mistake changes nothing.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

conf=$ced_folder/host.conf
policies=$ced_folder/policies
mkdir "$policies"
chmod 755 "$ced_folder" "$policies"
settings() { printf '%s\n' 'cgroups = "auto"' "policies = \"$policies\"" "$@" >"$conf"; }
in_force() { json "$(cectl config show "$1" --json)" '[[s["value"], s["source"]] for s in it][0]'; }
team() {
	printf '{"name": "team", "description": "1", "extends": "observe", "lists_add": {"python.imports": ["%s"]}}\n' "$1" \
		>"$policies/team.json"
}
digest_of() { json "$(cectl policy list --json)" "[p['digest'] for p in it['policies'] if p['name'] == '$1'][0]"; }

settings 'wait_ms = 1min'
team first
ced_arguments=(--config "$conf")
daemon_start

# --- what changes -----------------------------------------------------------------------------

exits 0 "a reload without a change" cectl reload
like "$out" 'reloaded: nothing has changed' "says so"
settings 'wait_ms = 2min' 'limits { wall_ms = 7s }' 'alert slow { outcome = {"wall_limit"} }' 'workers_max = 7' \
	'runtime python { preload = {"json"} }'
exits 0 "a reload with changes" cectl reload --json --reason 'ticket 9'
is "$(json "$out" '[(c["key"], c["from"], c["to"]) for c in it["changed"]]')" \
	'[["wait_ms", "1min", "2min"], ["limits.wall_ms", "5s", "7s"], ["alert.slow", "", ""]]' "lists what has changed"
is "$(json "$out" '[c["key"] for c in it["waits"]]')" '["workers_max", "runtime.python"]' "and what needs a restart"
is "$(json "$out" 'it["digest_before"] != it["digest_after"]')" true "the digest of all settings is another"
is "$(in_force wait_ms)" '["2min", "file"]' "the new value is in force"
is "$(json "$(cectl run -c 'print(1)' --json)" 'it["limits"]["wall_ms"]')" 7000 "for the next run"
like "$(cectl status)" 'need a restart: .*workers_max.*runtime\.python' "status says what waits"
is "$(json "$(cectl acts -n 1 --json)" '[it["acts"][0][key] for key in ("method", "uid")] + [it["acts"][0]["params"]["reason"], it["acts"][0]["result"]["reloaded"]]')" \
	"[\"admin.reload\", $(id -u), \"ticket 9\", true]" "the act is in the record"
like "$(cectl acts -n 1 --json)" 'digest_before": *"sha256:.*digest_after": *"sha256:' "with both digests"
settings 'wait_ms = 2min'
exits 0 "what was taken back" cectl reload
like "$(cectl config show limits.wall_ms)" '5s +default' "is at its default again"
unlike "$(cectl status)" 'need a restart' "and nothing waits any more"

# --- what is refused --------------------------------------------------------------------------

before=$(json "$(cectl config show --json)" 'it["digest"]')
settings 'wait_ms = 3min' 'quue_max = 4'
exits 1 "a bad file is refused" cectl reload
like "$err" "$conf:4: there is no setting quue_max here; did you mean queue_max\?" "with file, line and what to write"
is "$(in_force wait_ms)" '["2min", "file"]' "what is in force stays"
is "$(json "$(cectl config show --json)" 'it["digest"]')" "$before" "all of it"
like "$(cectl status)" 'reload was refused: configuration .*quue_max' "status says so"
exits 1 "a monitor hears of it" cectl status --check
like "$out" '^degraded.*settings: configuration .*quue_max.*cectl reload' "since a restart would fail"
is "$(json "$(cectl acts -n 1 --json)" '[it["acts"][0]["result"][key] for key in ("reloaded", "refused")][1]["line"]')" 4 \
	"and the record"
settings 'policy = "tem"'
exits 1 "so is a policy that does not exist" cectl reload
like "$err" "$conf:3: policy: there is no policy \"tem\"; did you mean team\?" "by its place"
settings 'wait_ms = 2min'
echo '{"name": "broken",' >"$policies/broken.json"
exits 1 "so is a policy that cannot be read" cectl reload
like "$err" 'broken.json' "by its file"
rm "$policies/broken.json"
printf ';; @rule team.bad\n;; @message bad\n(no_such_node) @it\n' >"$policies/python.bad.scm"
exits 1 "so are rules that no inspector can compile" cectl reload
like "$err" 'python\.bad\.scm' "by their file"
is "$(cectl run --policy team -c 'print(6 * 7)')" 42 "the policies in force go on"
rm "$policies/python.bad.scm"
exits 0 "a right one ends the trouble" cectl reload
unlike "$(cectl status)" 'reload was refused' "in status, too"
if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	exits 1 "a reload is for administrators" setpriv --reuid 4001 --regid 4001 --clear-groups cectl reload
fi

# --- runs in progress -------------------------------------------------------------------------

old=$(digest_of team)
cectl run --detach --policy team --limit wall=30s --json -c 'import time
time.sleep(6)
print("kept")' >"$work/id"
id=$(json "$(<"$work/id")" 'it["run_id"]')
team second
settings 'wait_ms = 2min' 'for_policy team { most { wall_ms = 1s } }'
exits 0 "the policy changes while a run is in progress" cectl reload
like "$out" 'the policies have changed' "which is said"
new=$(digest_of team)
ok "$([[ $new != "$old" ]]; echo $?)" "the policy has another digest"
result=$(cectl wait "$id" --json)
is "$(json "$result" '[it["outcome"], it["stdout"], it["policy"]["digest"]]')" "[\"ok\", \"kept\\n\", \"$old\"]" \
	"the run ends under the policy and the limits that it began with"
is "$(json "$(cectl run --policy team --json -c 'print(1)')" 'it["policy"]["digest"]')" "$new" "the next one has the new policy"
for ((i = 0; i < 200; i++)); do
	[[ $(json "$(cectl status --json)" 'it["reload"]["earlier_policies"]') == 0 ]] && break
	sleep 0.1
done
is "$(json "$(cectl status --json)" 'it["reload"]["earlier_policies"]')" 0 "then nothing is left of the old policies"

# --- runs that wait for approval ---------------------------------------------------------------

if [[ $(id -u) == 0 ]]; then # nobody approves a run of their own
	other=(setpriv --reuid 4001 --regid 4001 --clear-groups)
	settings
	printf '{"name": "ask", "description": "1", "extends": "strict", "rules": {"python.import.*": "ask"}}\n' \
		>"$policies/ask.json"
	exits 0 "a policy that asks" cectl reload
	"${other[@]}" cectl run --detach --policy ask --json -c 'import socket
print("approved")' >"$work/id"
	id=$(json "$(<"$work/id")" 'it["run_id"]')
	for ((i = 0; i < 600; i++)); do
		[[ $(json "$(cectl approvals --json)" 'len(it["waiting"])') == 1 ]] && break
		sleep 0.1
	done
	printf '{"name": "ask", "description": "2", "extends": "strict"}\n' >"$policies/ask.json"
	exits 0 "becomes one that denies" cectl reload
	exits 0 "what waits can be approved" cectl approve "$id"
	timeout 120 cectl wait "$id" --json >"$work/result"
	is "$(json "$(<"$work/result")" 'it["outcome"]')" policy_denied "and is checked again, under the policy in force"
fi

# --- SIGHUP -----------------------------------------------------------------------------------

settings 'wait_ms = 4min'
count=$(json "$(cectl status --json)" 'it["reload"]["done"]')
kill -HUP "$(json "$(cectl status --json)" 'it["pid"]')"
for ((i = 0; i < 200; i++)); do
	[[ $(json "$(cectl status --json)" 'it["reload"]["done"]') -gt $count ]] && break
	sleep 0.1
done
is "$(in_force wait_ms)" '["4min", "file"]' "SIGHUP to the daemon does the same"

# --- under load -------------------------------------------------------------------------------

/usr/bin/python3 "$here/221-reload.py" "$conf" "$policies" "${CED_RELOADS:-50}" >"$work/load" 2>&1
ok $? "${CED_RELOADS:-50} reloads under load lose no answered run and refuse no client"
report "$work/load"
exits 0 "the record is whole" cectl audit verify
is "$(cectl run -c 'print(6 * 7)')" 42 "and the daemon works"
daemon_stop
unlike "$(<"$ced_log")" 'stop.runs_left|Sanitizer|inspector.lost' "it stops as ever"
done_testing
