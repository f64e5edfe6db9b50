#!/bin/bash
# What docs/operations/record.md shows of the store is typed, in its order, and prints what stands there.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pages.sh"
daemon_start
mkdir "$work/backup"

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

# The host's folders are ours here.
page_places=([/var/lib/ced]=$ced_state [/srv/backup]=$work/backup)
# 905-reading runs that section's commands, on its own store.
type_page "$here/../../docs/operations/record.md" --without "Reading the record" --only console
((page_typed >= 15))
ok $? "there is something to type: $page_typed commands"
done_testing
