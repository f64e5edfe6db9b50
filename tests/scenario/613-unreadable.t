#!/bin/bash
# A content that goes bad before its run has settled: it is told, and everybody else is recorded, settled and found.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/613-unreadable.py" "$ced_state" "$ced_log" >"$work/said" 2>&1
ok $? "damage in a run that waits to be settled"
report "$work/said"
exits 1 "verification finds it" cectl audit verify
like "$out$err" 'blob' "and names it"
failed=0
while read -r run; do
	cectl output "$run" >/dev/null 2>&1 || failed=$((failed + 1))
done < <(cectl runs --all --csv --columns run | tail -n +2 | tr -d '"')
((failed > 0))
ok $? "who reads it is told"
(($(json "$(cectl status --json)" 'it["check"]["met"]') > 0))
ok $? "and so is the status"
like "$(cat "$ced_log")" 'store.damage_met why=' "and the log"
exits 0 "and programs run" cectl run -c 'print("onwards")'
done_testing
