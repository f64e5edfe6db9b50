#!/bin/bash
# Many connections, none of which is lost from the record; and what a connection costs.  CED_CONNECTIONS says how many.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/nets.sh"
nets_start "most_connections = 20000 most_down_bytes = 4gb"
/usr/bin/python3 -B "$here/342-network-many.py" "$nets" "${CED_CONNECTIONS:-3000}"
