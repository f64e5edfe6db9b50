# Sourced by the scripts that run as root inside the guest: TAP.
# shellcheck shell=bash
count=0
ok() { # status, name
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		journalctl -u ced --no-pager | tail -n 12 | sed 's/^/# /'
	fi
}
is() { # found, hoped, name
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || printf '# found: %s\n# hoped: %s\n' "$1" "$2"
}
as() { # user, command...
	local user=$1
	shift
	runuser -u "$user" -- "$@" 2>&1
}
# An emulator on a busy host needs minutes for a start.
slow_start() {
	mkdir -p /etc/systemd/system/ced.service.d
	printf '[Service]\nTimeoutStartSec=900\n' >/etc/systemd/system/ced.service.d/slow.conf
}
# until_true COMMAND...: waits for it, up to five minutes.
until_true() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.5
	done
	return 1
}
