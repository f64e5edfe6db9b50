#!/bin/bash
# The wall clock jumps while sessions are open and calls wait for approval: their limits do not care.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
mkdir "$work/policies"
chmod 755 "$work/policies"
printf '{ "name": "asks", "description": "A test.", "extends": "observe", "tools": { "ask": ["note"] } }\n' >"$work/policies/asks.json"
head -c 8 /dev/zero >"$ced_folder/clock"
cp "$CED_BUILD/tests/libclock_shim.so" "$ced_folder/"
chmod 755 "$ced_folder/libclock_shim.so"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
admins = {4002}
policies = "$work/policies"
session_ms = 20s
session_idle_ms = 600s
CONF
chmod 644 "$ced_folder/clock" "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
export CED_TEST_CLOCK=$ced_folder/clock LD_PRELOAD=$ced_folder/libclock_shim.so
daemon_start
unset LD_PRELOAD
chmod 777 "$(dirname "$CED_SOCKET")" && chmod 666 "$CED_SOCKET"
/usr/bin/python3 -B "$here/336-session-clock.py" "$ced_folder/clock"
