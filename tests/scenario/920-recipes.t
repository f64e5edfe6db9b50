#!/bin/bash
# The recipes that a private daemon with its defaults can run print what their pages show.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/recipes.sh"
. "$here/node_client.sh"
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack the cgroups that tell a memory_limit"
node_client_build || bail "clients/node does not build"
mkdir node_modules && ln -s "$client" node_modules/ced
daemon_start
for name in from-subprocess agent-loop judge clean-csv incident-agent; do
	recipe "$name"
done
done_testing
