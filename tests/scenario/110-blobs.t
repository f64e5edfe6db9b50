#!/bin/bash
# Contents that are sent once and used in many runs, by who sent them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
cp "$here/wire.py" "$here/110-blobs.py" "$work/" # the checkout may be closed to others
printf '%s\n' 'cgroups = "auto"' 'socket_mode = "0666"' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
blobs() {
	/usr/bin/python3 "$work/110-blobs.py" "$@" >"$work/said" 2>&1
	ok $? "$1"
	report "$work/said"
}
blobs used
blobs parts
blobs bounds
if [[ $(id -u) == 0 ]]; then
	setpriv --reuid 4001 --regid 4001 --clear-groups \
		/usr/bin/python3 "$work/110-blobs.py" stranger >"$work/said" 2>&1
	ok $? "what one user sent is not there for another"
	report "$work/said"
fi
printf 'a,b\n1,2\n' >"$work/data.csv"
exits 0 "put" cectl put "$work/data.csv"
is "${out%% *}" "sha256:$(sha256sum <"$work/data.csv" | cut -d' ' -f1)" "prints the hash"
exits 0 "a run takes it" cectl run -f "${out%% *}:in/data.csv" -c 'print(open("in/data.csv").read(), end="")'
is "$out" "$(cat "$work/data.csv")" "as a file"
exits 126 "and is told when it is not there" cectl run -f "sha256:$(sha256sum </dev/null | cut -d' ' -f1):x" -c 1
like "$err" '--file: .*cectl put FILE sends it' "what to do"
daemon_stop
echo 'blob_s = 1' >>"$work/ced.conf"
daemon_start
blobs forgotten
is "$(json "$(cectl status --json)" 'it["held_bytes"] < 200000')" true "nothing of them is held"
daemon_stop
done_testing
