#!/bin/bash
# A small disk: what a new store needs, what status says when it is full, gc without any room, and little
# room that is there for runs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "mounting takes root"

# shellcheck disable=SC2317 # the trap calls it
leave() {
	local status=$?
	daemon_stop
	umount -q "$ced_state"
	(exit "$status")
	ced_leave
}
trap leave EXIT
status() {
	json "$(cectl status --json)" "$1"
}
# room DOCUMENT [REST]: state and words of that check of doctor.
room() {
	json "$1" "[c['state'] + ' ' + c['found'] for c in it['checks'] if c['name'] == 'room${2:-}'][0]"
}
until_word() {
	local tries
	for ((tries = 0; tries < 1200; tries++)); do
		[[ $(status 'it.get("trouble_word")') == "$1" ]] && return 0
		sleep 0.1
	done
	return 1
}
# disk SIZE: an empty one.
disk() {
	mount -t tmpfs -o "size=$1,mode=700" tmpfs "$ced_state" 2>/dev/null ||
		skip_all "no file system may be mounted here"
	chown "$(ced_account)": "$ced_state"
}
# fill BYTES: leaves so many free.
fill() {
	/usr/bin/python3 -c '
import os, sys
fs = os.statvfs(sys.argv[1])
with open(sys.argv[1] + "/ballast", "ab") as file:
	file.write(b"\1" * max(0, fs.f_bavail * fs.f_frsize - int(sys.argv[2])))' "$ced_state" "$1"
}
# big COUNT BYTES: so many runs, each with output of its own that no compression makes smaller than that.
big() {
	PYTHONPATH=$here /usr/bin/python3 -c '
import sys
from wire import Client
client = Client()
for i in range(int(sys.argv[1])):
	client.run(f"import random; print(random.randbytes({sys.argv[2]}).hex())")' "$1" "$2" 2>/dev/null
}

disk 10m
timeout 60 "$(ced_programs)/bin/ced-spawner" --libexec "$(ced_programs)/libexec/ced" -- \
	--socket "$CED_SOCKET" --state "$ced_state" "${ced_arguments[@]}" >"$work/log" 2>&1
like "$(cat "$work/log")" '10.0 MiB are free in .* and a new store needs 13.0 MiB' "a disk that is too small is told before it is filled"
is "$(find "$ced_state" -type f ! -name ced.lock)" "" "and nothing is left on it"
printf 'cgroups = "auto"\nstate = "%s"\n' "$ced_state" >"$work/room.conf"
exits 1 "doctor finds it without a daemon" cectl doctor --json --config "$work/room.conf"
is "$(room "$out")" "missing 10.0 MiB are free in $ced_state, and a new store needs 13 MiB" "and says what is free and what is needed"
like "$out" "df -h $ced_state" "and what to do"
umount "$ced_state"

disk 32m
exits 0 "where there is more doctor is content" cectl doctor --json --config "$work/room.conf"
is "$(room "$out" ' to spare')" "weaker 32.0 MiB are free in $ced_state, and the disk counts as nearly full below 64 MiB" "and says when that is little"
daemon_start
cectl doctor --json >"$work/doctor" 2>/dev/null
like "$(room "$(<"$work/doctor")" ' to spare')" "MiB are free in $ced_state, and" "of a daemon that answers doctor looks at the folder that it uses"
big 60 150000
ok $? "programs run"
like "$(cectl status)" "disk is nearly full: .* free" "status says that there is not much room"
fill 4096
until_word full
ok $? "a disk that others fill is noticed without a run"
like "$(cectl status)" '^✗ ced ' "and status does not begin with a tick"
like "$(cectl status)" 'runs are refused until' "but says what it means for runs"
exits 1 "doctor is not content either" cectl doctor
like "$(cectl doctor)" 'it records nothing: the store: 0.0 MiB are free' "and says why"
exits 0 "gc has room of its own" cectl gc --keep-runs 5 --reason room
until_word None
ok $? "and with what it gave back runs pass again"
is "$(cectl run -c 'print(6 * 7)')" 42 "a program runs"
exits 0 "the record verifies" cectl audit verify
is "$(stat -c %s "$ced_state/ced.reserve")" 4194304 "the room for the next gc is there again"

# --- little is freed ---------------------------------------------------------------------------

fill 7000000
big 270 4000
ok $? "below 8 MiB runs pass"
fill 4096
until_word full
ok $? "it is full again, with runs that wait to be settled"
unsettled=$(status 'it["store"]["unsettled"]')
truncate -s -3M "$ced_state/ballast"
until_word None
ok $? "3 MiB are freed, and it is well"
big 10 5000
ok $? "runs pass"
before=$(status 'it["store"]["free_bytes"]')
sleep 1
after=$(status 'it["store"]["free_bytes"]')
is "$after" "$before" "and nothing takes the room while none comes"
(($(status 'it["store"]["unsettled"]') > unsettled))
ok $? "what waits to be settled waits"
daemon_stop

# --- a start without room ----------------------------------------------------------------------

fill 0
daemon_start
until_word full
ok $? "a daemon that starts on a full disk says so"
is "$(cectl runs --json | /usr/bin/python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]) > 5)')" True "what it has can be read"
exits 0 "and gc works" cectl gc --keep-runs 5 --reason room
done_testing
