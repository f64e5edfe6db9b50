#!/bin/bash
# What a run with a network tries beside what it asked for.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/nets.sh"
nets_start ""
/usr/bin/python3 -B "$here/341-network-attacks.py" "$nets" "$ced_spawner"
