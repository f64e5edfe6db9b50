#!/bin/bash
# What happens is told to those who subscribed, to nobody else, and to none too slowly for others.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
install -m 644 "$here/wire.py" "$ced_folder/wire.py" # the checkout may be closed to others
export CED_SPAWNER=$ced_spawner CED_WIRE=$ced_folder
/usr/bin/python3 "$here/112-watch.py" >"$work/told" 2>&1
ok $? "raw clients hear what they may hear"
report "$work/told"

watch() {
	cectl watch "$@" >"$work/seen" 2>"$work/said" &
	watcher=$!
	for _ in {1..100}; do
		[[ $(json "$(cectl status --json)" 'it["subscriptions"]') != 0 ]] && break
		sleep 0.05
	done
}

watch -n 3
id=$(cectl run --json --agent ann -c 'print(1)' | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
cectl run --policy strict -c 'import os' 2>/dev/null
wait "$watcher"
ok $? "cectl watch ends after so many events"
like "$(sed -n 1p "$work/seen")" "started .*$id.*agent ann" "it saw the start"
like "$(sed -n 2p "$work/seen")" "finished .*$id.* ok " "and the end"
like "$(sed -n 3p "$work/seen")" 'denied .*policy_denied  python.import.denied  Policy' "and what was denied, with its rule"

watch -n 2 --json -k limit -k admin_op
cectl run --limit stdout=10 -c 'print("x" * 99)' >/dev/null 2>&1
cectl drain --reason noon >/dev/null
cectl resume >/dev/null
wait "$watcher"
is "$(wc -l <"$work/seen")" 2 "--json is one document on each line"
is "$(json "$(sed -n 1p "$work/seen")" '[it["kind"], it["limit"], it["outcome"]]')" \
	'["limit", "stdout_bytes", "output_limit"]' "of the kinds that were asked for"
is "$(json "$(sed -n 2p "$work/seen")" '[it["kind"], it["method"], it["reason"]]')" \
	'["admin_op", "admin.drain", "noon"]' "in their order"

watch -n 1 -k finished
daemon_stop
sleep 1
daemon_start
for _ in {1..100}; do
	grep -q 'it is back' "$work/said" && break
	sleep 0.1
done
like "$(cat "$work/said")" 'daemon has gone.*is back after' "when the daemon is started anew it says so"
cectl run -c 'print(2)' >/dev/null
wait "$watcher"
ok $? "and watches on"
like "$(cat "$work/seen")" 'finished .* ok ' "what happens then"
exits 2 "a kind that is none is refused" cectl watch -k odd
like "$err" '^cectl: --kind: must be one of' "with what is wrong"
exits 2 "so is a uid that is none" cectl watch -u no-such-user
done_testing
