#!/bin/bash
# A caller is who the kernel says, and the runs of others do not exist for it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
cp "$here/wire.py" "$here/104-callers.py" "$here/104-curious.py" "$work/" # the checkout may be closed to others
echo 'socket_mode = "0666"' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
exits 0 "a stranger's run" setpriv --reuid 4001 --regid 4001 --clear-groups \
	cectl run -c 'open("a.txt", "w").write("private")' --artifact '*' --agent shared --id mine
stranger=$(json "$(cectl runs --json)" 'it["runs"][0]["run_id"]')
setpriv --reuid 4001 --regid 4001 --clear-groups \
	cectl run --detach --limit wall=60s -c 'import time; time.sleep(50)' --agent shared >/dev/null
running=$(json "$(cectl runs --json)" 'it["runs"][0]["run_id"]')
setpriv --reuid 4002 --regid 4002 --clear-groups \
	/usr/bin/python3 "$work/104-callers.py" "$stranger" "$running" >"$work/callers" 2>&1
ok $? "somebody else meets none of it"
report "$work/callers"
exits 0 "and root sees all" cectl show "$stranger"
is "$(json "$(cectl runs --json --uid 4002)" '[run["uid"] for run in it["runs"]]')" "[4002]" "by uid, too"
exits 0 "the stranger's run goes on, until root cancels it" cectl cancel "$running"
# How long the run takes, in ms.
prints_much() {
	TIMEFORMAT=%R
	{ time setpriv --reuid 4002 --regid 4002 --clear-groups \
		cectl run -c 'print("x" * 200000)' >/dev/null; } 2>&1 | tr -d .
}
alone=$(prints_much)
setpriv --reuid 4001 --regid 4001 --clear-groups \
	/usr/bin/python3 "$work/104-curious.py" >"$work/curious" 2>&1 &
curious=$!
for ((tries = 0; tries < 1200; tries++)); do
	grep -q asked "$work/curious" && break
	sleep 0.1
done
took=$(prints_much)
# All the answers before it would take far longer.
ok "$((10#$took > 2000 + 8 * 10#$alone))" \
	"who asks the store 27,000 questions holds up nobody else's output ($took ms, alone $alone ms)"
kill "$curious"
wait "$curious" 2>/dev/null
done_testing
