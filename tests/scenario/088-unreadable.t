#!/bin/bash
# A content that goes bad before its run has settled: it is told, and everybody else is recorded, settled and found.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 "$here/088-unreadable.py" "$ced_state" "$ced_log" >"$work/said" 2>&1
ok $? "damage in a run that waits to be settled"
sed 's/^/# /' "$work/said"
exits 1 "verification finds it" cectl audit verify
like "$out$err" 'blob' "and names it"
exits 0 "and programs run" cectl run -c 'print("onwards")'
done_testing
