#!/bin/bash
# Limits of their own for a runtime, a policy and a caller: in force, refused above, and told.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >>"$ced_folder/ced.conf" <<CONF
workers_min = 2
workers_max = 2
runtime python { limits { wall_ms = 4s } most { wall_ms = 8s } }
for_policy strict { limits { pids = 16 } most { pids = 20 memory_bytes = 128mb } }
for_uid $(id -u) { limits { disk_bytes = 1mb } most { wall_ms = 2min } }
for_uid 4242 { limits { disk_bytes = 2mb } }
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# field JSON-PATH-EXPRESSION: of the document on stdin
field() {
	/usr/bin/python3 -c 'import json, sys; print(eval("d" + sys.argv[1], {"d": json.load(sys.stdin)}))' "$1"
}

run=$(cectl run --json -c 'pass')
is "$(field '["limits"]["wall_ms"]' <<<"$run")" 4000 "a runtime has a default of its own"
is "$(field '["limits"]["disk_bytes"]' <<<"$run")" 1048576 "and a caller"
is "$(field '["limits"]["pids"]' <<<"$run")" 64 "what is for others is not for this one"
run=$(cectl run --json --policy strict -c 'pass')
is "$(field '["limits"]["pids"]' <<<"$run")" 16 "a policy has a default of its own"
is "$(field '["limits"]["memory_bytes"]' <<<"$run")" 134217728 "which is never above its ceiling"

cectl run --limit wall=100s -c 'pass'
is $? 0 "a caller may be given more than its runtime"
said=$(cectl run --policy strict --limit pids=21 -c 'pass' 2>&1)
is $? 126 "above the ceiling of a policy a run is refused"
like "$said" '--limit pids: must be at most 20' "which names the limit"
like "$said" 'at most 20' "and the ceiling"
said=$(cectl run --limit wall=121s -c 'pass' 2>&1)
like "$said" 'at most 2 min 00 s' "above the ceiling of a caller likewise"
cectl run --policy standard --limit pids=21 -c 'pass'
is $? 0 "which under another policy is nothing"
cectl run --policy strict -c 'b = bytearray(200 << 20)' 2>/dev/null
is $? 137 "and it is the lower number that holds"

is "$(cectl runtimes --json | field '["runtimes"][0]["limits"]["standard"]["disk_bytes"]')" 1048576 \
	"a caller is told what it gets"
is "$(cectl runtimes --json | field '["runtimes"][0]["limits"]["most"]["wall_ms"]')" 120000 \
	"and what it may ask for"
like "$(cectl runtimes)" 'wall +4.00 s +2 min' "in words, too"
is "$(cectl status --json | field '["allowances"][1]["most"]["pids"]')" 20 "an administrator is told everything that is set"
like "$(cectl status)" 'policy strict.*pids 16' "in words, too"

daemon_stop
echo 'for_policy strikt { limits { pids = 16 } }' >>"$ced_folder/ced.conf"
"${ced_own[@]}" "$(ced_programs)/bin/ced-spawner" --libexec "$(ced_programs)/libexec/ced" -- --socket "$CED_SOCKET" \
	--state "$ced_state" "${ced_arguments[@]}" >"$work/said" 2>&1
ok $((! $?)) "a policy that does not exist ends the start"
like "$(<"$work/said")" 'for_policy.strikt: there is no policy .*strikt.*; did you mean strict' "with the reason"
done_testing
