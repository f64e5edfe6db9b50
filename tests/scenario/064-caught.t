#!/bin/bash
# A policy is enforced twice: over the text, and inside the worker.  Either holds alone.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
mkdir "$ced_folder/policies"
for at in text run; do
	echo '{"name": "strict-'$at'", "description": "One half of strict.", "extends": "strict", "at": {"*": "'$at'"}}' \
		>"$ced_folder/policies/strict-$at.json"
done
echo '{"name": "roads-run", "description": "One rule, while it runs.", "extends": "standard",
	"rules": {"python.import.dangerous": "deny", "javascript.import.dangerous": "deny"},
	"at": {"python.import.dangerous": "run", "javascript.import.dangerous": "run"},
	"lists": {"python.imports.dangerous": ["socket.*", "_socket.*", "asyncio.subprocess"]}}' >"$ced_folder/policies/roads-run.json"
echo '{"name": "names-run", "description": "Another.", "extends": "standard",
	"rules": {"javascript.name.denied": "deny"}, "at": {"javascript.name.denied": "run"}}' >"$ced_folder/policies/names-run.json"
chmod -R a+rX "$ced_folder/policies"
[[ $(id -u) == 0 ]] || echo 'cgroups = "auto"' >"$ced_folder/ced.conf"
echo "policies = \"$ced_folder/policies\"" >>"$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/064-caught.py" "$here/../cases/policy" "$@"
