#!/bin/bash
# The power of a stock Debian 12 is cut while clients are answered: whatever was answered, and noted
# here as it was, is on its disk, and what was in flight is lost with what was known of it.
# CED_POWER_CUTS: how often.
. "$(dirname "$0")/lib.sh"
vm_prepare
vm_install /usr/local
mkdir -p "$vm_payload/opt/ced/source/tests"
cp -r "$CED_SOURCE/tests/scenario" "$CED_SOURCE/tests/vm" "$vm_payload/opt/ced/source/tests/"
guest=/opt/ced/source/tests/vm/power-guest.py
cuts=${CED_POWER_CUTS:-10}
noted=$work/noted
: >"$noted"

# note COUNT: what the guest says, until there are so many lines.
note() {
	while vm_read; do
		printf '%s\n' "$vm_line" >>"$noted"
		[[ $(wc -l <"$noted") -ge $1 ]] && return
	done
}

# verify NAME: counts are left in $verified.
verify() {
	local said
	said=$(vm_run 'cectl audit verify 2>/dev/null' 900)
	is "$? $(tail -n 1 <<<"$said")" "0 no change found" "$1: the chain over all of it verifies"
	verified=$(head -n -1 <<<"$said" | tr -s ' ' | sed 's/^ //' | paste -sd,)
	diag "$1, verified: ${verified//,/, }"
}

vm_boot
vm_run 'systemd-sysusers && systemctl daemon-reload && systemctl enable --now ced 2>&1'
ok $? "the service is installed and starts"
for ((cut = 1; cut <= cuts; cut++)); do
	[[ $cut == 1 ]] || echo cut >>"$noted"
	wanted=$(($(wc -l <"$noted") + 30 + RANDOM % 60))
	vm_begin "exec python3 $guest run"
	note "$wanted"
	vm_power_cut >>"$noted"
	diag "the power went after $(wc -l <"$noted") lines"
	vm_boot
	vm_tap "after cut $cut" "python3 $guest check <<'END'
$(<"$noted")
END" 1200
	verify "after cut $cut"
	is "$(vm_run 'sqlite3 /var/lib/ced/ced.db "PRAGMA integrity_check"')" ok "after cut $cut: the database is whole"
done
is "$(vm_run 'systemctl --failed --no-legend; journalctl -k -g "EXT4-fs error" -q --no-pager')" "" \
	"the machine has nothing to complain of"
done_testing
