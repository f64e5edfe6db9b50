#!/bin/bash
# Nobody reads the daemon's log, or what it tells the service manager.  223-journal has the journal.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

programs=$(ced_programs)
printf '%s\n' 'cgroups = "auto"' 'runtime javascript { off = true }' >"$ced_folder/unread.conf"
for kind in pipe socket; do
	PYTHONPATH=$here /usr/bin/python3 "$here/226-unread.py" "$kind" "${ced_own[@]}" \
		"$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --config "$ced_folder/unread.conf" \
		--socket "$CED_SOCKET" --state "$ced_state" >"$work/said" 2>&1
	ok $? "a log that is a $kind which nobody reads"
	report "$work/said"
done
done_testing
