#!/bin/bash
# A known result takes the place of a run, for who asks for that, and for nobody else.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cp "$here/wire.py" "$here/109-cache.py" "$work/" # the checkout may be closed to others
mkdir "$work/policies"
chmod 755 "$work" "$work/policies"
policy() {
	printf '{"name": "own", "description": "a test", "extends": "standard", "rules": {"%s": "deny"}}\n' "$1" \
		>"$work/policies/own.json"
	chmod 644 "$work/policies/own.json"
}
settings() {
	printf '%s\n' 'cgroups = "auto"' 'socket_mode = "0666"' "policies = \"$work/policies\"" "$@" >"$work/ced.conf"
}
cache() {
	/usr/bin/python3 "$work/109-cache.py" "$@" >"$work/said" 2>&1
	ok $? "$*"
	report "$work/said"
}
ced_arguments=(--config "$work/ced.conf")
policy python.call.denied
settings
daemon_start
cache hits
cache keys
cache facts
cache contract
cache ways
if [[ $(id -u) == 0 ]]; then
	setpriv --reuid 4001 --regid 4001 --clear-groups \
		/usr/bin/python3 "$work/109-cache.py" stranger >"$work/said" 2>&1
	ok $? "what one user's program printed is not told to another"
	report "$work/said"
fi
cache keep

# The next daemon knows it too, as long as it is still the same.
daemon_stop
daemon_start
cache known
daemon_stop
policy python.dunder.denied
daemon_start
cache unknown policy
cache keep
daemon_stop
settings 'runtime python { preload = {"json"} }'
daemon_start
cache unknown runtime
daemon_stop
settings 'cache_s = 1' 'cache_entries = 3'
daemon_start
cache age
cache size
daemon_stop
settings 'cache_s = 0'
daemon_start
cache never
daemon_stop
done_testing
