#!/bin/bash
# Secrets that a caller names, and those that patterns know, are in nothing that the daemon writes.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/046-redaction.py" plant >"$work/planted" 2>&1
ok $? "secrets are planted everywhere"
sed 's/^/# /' "$work/planted"
daemon_kill
cp "$ced_log" "$work/log"
daemon_start
cat "$ced_log" >>"$work/log"
sleep 1
/usr/bin/python3 "$here/046-redaction.py" search "$ced_state" "$work/log" >"$work/found" 2>&1
ok $? "and found nowhere"
sed 's/^/# /' "$work/found"
like "$(cectl show last)" 'masked' "show says that there are masks"
unlike "$(for run in $(json "$(cectl runs --json --limit 40)" '" ".join(run["run_id"] for run in it["runs"])'); do cectl explain "$run"; cectl show "$run"; done 2>&1)" \
	'pl4nted|hunt3r|ghp_a1' "and no command shows what is behind them"
done_testing
