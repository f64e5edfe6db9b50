#!/bin/bash
# Programs of full size, dear to parse or to hold against rules, hold up nobody's small requests while they are checked.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
for kind in names findings broken slow; do
	/usr/bin/python3 "$here/704-checks.py" send "$kind" >"$work/sent" 2>&1 &
	sender=$!
	/usr/bin/python3 "$here/704-checks.py" measure "$kind" "$work/sent" >"$work/said" 2>&1
	ok $? "$kind: others wait for no more than a moment"
	report "$work/said"
	kill "$sender"
	wait "$sender" 2>/dev/null
	sed 's/^/# /' "$work/sent" | tail -n 2
done
/usr/bin/python3 "$here/704-checks.py" loop "$ced_spawner" >"$work/said" 2>&1
ok $? "the loop itself does little of it"
report "$work/said"
daemon_stop
done_testing
