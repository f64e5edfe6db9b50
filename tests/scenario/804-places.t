#!/bin/bash
# The kernel has no place left in epoll sets for the daemon's user: it lets nobody new in, and goes on.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python

echo 0 >"$ced_folder/places"
chmod 644 "$ced_folder/places"
cp "$CED_BUILD/tests/libplaces_shim.so" "$ced_folder/"
chmod 755 "$ced_folder/libplaces_shim.so"
export CED_TEST_PLACES=$ced_folder/places LD_PRELOAD=$ced_folder/libplaces_shim.so
daemon_start
unset LD_PRELOAD
/usr/bin/python3 "$here/804-places.py" "$ced_folder/places" "$ced_spawner"
