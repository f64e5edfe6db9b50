#!/bin/bash
# What a policy says about runs that ask for a network.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/nets.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
mkdir "$work/policies"
chmod 755 "$work/policies"
policy() {
	printf '{ "name": "nets-%s", "description": "A test.", "extends": "%s", "network": "%s" }\n' "$1" "$2" "$1" \
		>"$work/policies/nets-$1.json"
}
policy deny observe
policy ask observe
policy allow nets-ask
NETS_MORE="
admins = {4002}
for_uid 4001 { egress_allow = {\"*.test:*\"} }
policies = \"$work/policies\"
"
nets_start ""
chmod 777 "$(dirname "$CED_SOCKET")"
chmod 666 "$CED_SOCKET"
/usr/bin/python3 -B "$here/344-network-policy.py" "$nets" "$ced_folder/ced.conf"
