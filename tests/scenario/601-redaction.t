#!/bin/bash
# Secrets that a caller names, and those that patterns know, are in nothing that the daemon writes.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/601-redaction.py" plant >"$work/planted" 2>&1
ok $? "secrets are planted everywhere"
report "$work/planted"
daemon_kill
cp "$ced_log" "$work/log"
daemon_start
cat "$ced_log" >>"$work/log"
sleep 1
/usr/bin/python3 "$here/601-redaction.py" search "$ced_state" "$work/log" >"$work/found" 2>&1
ok $? "and found nowhere"
report "$work/found"
like "$(cectl show last)" 'masked' "show says that there are masks"
unlike "$(for run in $(json "$(cectl runs --json --limit 40)" '" ".join(run["run_id"] for run in it["runs"])'); do cectl explain "$run"; cectl show "$run"; done 2>&1)" \
	'pl4nted|hunt3r|ghp_a1' "and no command shows what is behind them"

exits 0 "a run with a named secret" env PIN=s3cretPIN42 cectl run --secret PIN -c 'import sys; print(len(sys.argv[1]))' -- s3cretPIN42
is "$out" 11 "gets it whole"
like "$(PIN=s3cretPIN42 cectl replay last --secret PIN --json | tr -d '\n ')" '"masks":[12]' "and a replay says that it is not the same request"
if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	PATH=$(ced_programs)/bin:$PATH # the checkout may be closed to others
	run=$(setpriv --reuid 4001 --regid 4001 --clear-groups env PIN=s3cretPIN42 \
		cectl run --detach --secret PIN -c 'import time; print("s3cret" + "PIN42", flush=True); time.sleep(2)' | grep -oE '[0-9A-Z]{26}' | head -1)
	theirs=$(cectl wait "$run" 2>&1)
	like "$theirs" 'masked:secret' "who waits for somebody else's run gets the masks"
	unlike "$theirs" 's3cretPIN42' "and not what is behind them"
fi
daemon_stop
echo '{"patterns": [{"name": "house", "words": ["HT-"], "pattern": "HT-[0-9]+", "matches": [["", "HT-1", "."]], "passes": ["HT-2"]}]}' >"$work/more.json"
cat "$ced_folder/ced.conf" 2>/dev/null >"$work/more.conf"
echo "redactions = \"$work/more.json\"" >>"$work/more.conf"
chmod -R a+rX "$work"
"$(ced_programs)/bin/ced-spawner" --libexec "$(ced_programs)/libexec/ced" -- --socket "$CED_SOCKET" \
	--state "$ced_state" --config "$work/more.conf" >"$work/said" 2>&1
ok $((! $?)) "a pattern that does not do what its examples say ends the start"
# shellcheck disable=SC2016 # backquotes of the message
like "$(<"$work/said")" 'pattern house: this example of `passes` is masked: HT-2' "with the example"
done_testing
