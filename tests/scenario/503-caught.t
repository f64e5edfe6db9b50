#!/bin/bash
# A policy is enforced over the text, and for Python a second time inside the worker.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
mkdir "$ced_folder/policies"
for at in text run; do
	echo '{"name": "strict-'$at'", "description": "One half of strict.", "extends": "strict", "at": {"*": "'$at'"}}' \
		>"$ced_folder/policies/strict-$at.json"
done
echo '{"name": "roads-run", "description": "One rule, while it runs.", "extends": "standard",
	"rules": {"python.import.dangerous": "deny"},
	"at": {"python.import.dangerous": "run"},
	"lists": {"python.imports.dangerous": ["socket.*", "_socket.*", "asyncio.subprocess"]}}' >"$ced_folder/policies/roads-run.json"
chmod -R a+rX "$ced_folder/policies"
[[ $(id -u) == 0 ]] || echo 'cgroups = "auto"' >"$ced_folder/ced.conf"
cat >>"$ced_folder/ced.conf" <<CONF
policies = "$ced_folder/policies"
CONF
[[ -x /usr/bin/node ]] && cat >>"$ced_folder/ced.conf" <<CONF
runtime fixed-node {
	kind = "node"
	language = "javascript"
	interpreter = "/usr/bin/node"
	args = {"--disallow-code-generation-from-strings", "--disable-proto=throw"}
	workers_min = 1
}
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/503-caught.py" "$here/../cases/policy" "$@"
