#!/bin/bash
# What docs/operations/record.md shows of the store is typed, in its order, and prints what stands there.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
mkdir "$work/backup" "$work/steps"

# What the transcripts begin with: some runs of an agent, one of them denied.
for code in 'print(6 * 7)' 'raise ValueError("no numbers")' 'print("x" * 30000)'; do
	cectl run --agent planner -c "$code" >/dev/null 2>&1
done
cectl run --agent planner -p strict -c 'import os' >/dev/null 2>&1

# The service manager of this machine is not ours to use.
# shellcheck disable=SC2317 # transcripts call it
systemctl() {
	case $1 in
	stop) daemon_stop ;;
	start) daemon_start ;;
	esac
}

# The host's folders are ours here: in what is typed, and back in what is printed.
here_for() {
	sed -e "s|/var/lib/ced|$ced_state|g" -e "s|/srv/backup|$work/backup|g" "$1"
}
back_again() {
	sed -e "s|$ced_state|/var/lib/ced|g" -e "s|$work/backup|/srv/backup|g" "$1"
}

count=$(/usr/bin/python3 "$here/904-operations.py" split "$work/steps")
((count >= 15))
ok $? "there is something to type: $count commands"
for step in "$work"/steps/*.command; do
	eval "$(here_for "$step")" >"$work/said" 2>&1 </dev/null
	back_again "$work/said" >"$work/found"
	told=$(/usr/bin/python3 "$here/904-operations.py" compare "${step%.command}.hoped" "$work/found")
	ok $? "$(cat "$step")"
	[[ -z $told ]] || diag "$told"
done
done_testing
