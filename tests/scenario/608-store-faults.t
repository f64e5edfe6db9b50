#!/bin/bash
# The store under faults that are real: a small file system that fills up, another program that holds
# the database, files that may not be written, a file system that becomes read-only, pages that go bad.
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
cat >"$ced_folder/ced.conf" <<'CONF'
cgroups = "auto"
check_ms = 1s
CONF
ced_arguments=(--config "$ced_folder/ced.conf")

# suffer KIND: the driver's own checks become checks of this file.
suffer() {
	local line
	while IFS= read -r line; do
		case $line in
		'ok '*) ok 0 "${line#ok * - }" ;;
		'not ok '*) ok 1 "${line#not ok * - }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done < <(TMPDIR=$work /usr/bin/python3 "$here/608-store-faults.py" "$ced_state" "$ced_log" "$1" 2>&1)
}

mount -t tmpfs -o size=24m,mode=700 tmpfs "$ced_state" 2>/dev/null ||
	skip_all "no file system may be mounted here"
chown "$(ced_account)": "$ced_state"
daemon_start
suffer full
suffer locked
daemon_stop
umount "$ced_state"

truncate -s 200M "$work/disk"
if mkfs.ext4 -q "$work/disk" && mount -o loop,errors=remount-ro "$work/disk" "$ced_state" 2>/dev/null; then
	chown "$(ced_account)": "$ced_state"
	daemon_start
	suffer unwritable
	suffer damaged
	suffer read_only
	daemon_stop
	for ((tries = 0; tries < 300; tries++)); do # a process of the daemon may still end
		umount "$ced_state" 2>/dev/null && break
		sleep 0.2
	done
	fsck.ext4 -p "$work/disk" >"$work/fsck" 2>&1
	mount -o loop "$work/disk" "$ced_state"
	daemon_start
	lost=0
	while read -r run; do
		cectl show --json "$run" | tr -d '\n' | grep -q '"outcome": *"ok"' || lost=$((lost + 1))
	done < <(tail -n 60 "$work/answered")
	is "$lost" 0 "read-only: what was answered last is there after the file system was mounted anew"
	is "$(cectl run -c 'print(6 * 7)')" 42 "read-only: and programs run"
else
	diag "no loop device here: immutable files, damage and a read-only file system were not tried"
fi
done_testing
