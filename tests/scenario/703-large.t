#!/bin/bash
# Large messages of one user, and programs as large as may be, hold up nobody else's small runs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
cp "$here/wire.py" "$here/703-large.py" "$work/" # the checkout may be closed to others
printf '%s\n' 'cgroups = "auto"' 'socket_mode = "0666"' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
for kind in values tiny keys text program files broken; do
	setpriv --reuid 4001 --regid 4001 --clear-groups \
		/usr/bin/python3 "$work/703-large.py" send "$kind" >"$work/sent" 2>&1 &
	sender=$!
	setpriv --reuid 4002 --regid 4002 --clear-groups \
		/usr/bin/python3 "$work/703-large.py" measure "$kind" "$work/sent" >"$work/said" 2>&1
	ok $? "$kind: others wait for no more than a moment"
	report "$work/said"
	kill "$sender"
	wait "$sender" 2>/dev/null
	sed 's/^/# /' "$work/sent" | tail -n 2
done
/usr/bin/python3 "$work/703-large.py" loop "$(pgrep -f "^ced --spawner-fd.*$ced_state")" >"$work/said" 2>&1
ok $? "the loop itself does little of it"
report "$work/said"
/usr/bin/python3 "$work/703-large.py" order >"$work/said" 2>&1
ok $? "and come out as they were sent"
report "$work/said"
is "$(json "$(cectl status --json)" '[it["held_bytes"] < 200000, it["in_progress"]]')" "[true, 0]" "nothing of them is left"
daemon_stop
done_testing
