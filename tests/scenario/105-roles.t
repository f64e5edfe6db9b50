#!/bin/bash
# Each role may do what the protocol's page says: every method, by users of one role each.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
cp "$here/wire.py" "$here/105-roles.py" "$here/../../docs/PROTOCOL.md" "$work/" # the checkout may be closed to others
cat >"$work/ced.conf" <<'CONF'
socket_mode     = "0666"
users           = {4001, 4007}
approver_groups = {4102}
admin_groups    = {4103}
CONF
ced_arguments=(--config "$work/ced.conf")
daemon_start
# as UID GROUPS COMMAND...: supplementary groups alone, the first group is nobody's
as() {
	setpriv --reuid "$1" --regid 4999 --groups "$2" "${@:3}"
}
exits 0 "a stranger's run" as 4007 4999 cectl run -c 'print(1)'
stranger=$(json "$(cectl runs --json)" 'it["runs"][0]["run_id"]')

# matrix ROLE UID GROUPS ROLES
matrix() {
	as "$2" "$3" /usr/bin/python3 "$work/105-roles.py" "$work/PROTOCOL.md" "$4" "$1" "$stranger" >"$work/$1" 2>&1
	ok $? "$1: $(grep -c '^ok' "$work/$1") cells"
	report "$work/$1"
}
matrix none 4004 4999 '[]'
matrix user 4001 4999 '["user"]'
matrix approver 4002 4102,4999 '["approver"]'
matrix admin 4003 4999,4103 '["user", "admin"]'

exits 126 "who has no role is refused" as 4004 4999 cectl run -c 'print(1)'
like "$err" 'forbidden.*no role here' "and told why"
exits 126 "an approver runs nothing" as 4002 4102 cectl run -c 'print(1)'
like "$err" 'forbidden.*run is for the role user or admin' "and is told whom it is for"
is "$(json "$(cectl status --json)" 'it["roles"]["approver"]["groups"]')" "[4102]" "status tells who is named"
like "$(cectl status)" 'approver groups \[4102\]' "in words, too"

daemon_stop
echo 'admins = {"no-such-user-here"}' >>"$work/ced.conf"
"$(ced_programs)/bin/ced-spawner" --libexec "$(ced_programs)/libexec/ced" -- --socket "$CED_SOCKET" \
	--state "$ced_state" "${ced_arguments[@]}" >"$work/said" 2>&1
ok $((! $?)) "a name that the host does not know ends the start"
like "$(<"$work/said")" 'admins: there is no user' "with the reason"
done_testing
