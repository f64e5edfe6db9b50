#!/bin/bash
# Who misses a module is told which runtime has it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
# Not below /tmp, where a jail has a folder of its own, nor below /var, which no jail sees.
venv=$(mktemp -d /opt/ced-modules.XXXXXX 2>/dev/null)
trap 'rm -rf "${venv:-$ced_folder/venv}"; ced_leave' EXIT
if [[ -z $venv ]] || ! /usr/bin/python3 -m venv --without-pip "$venv" 2>/dev/null; then
	echo "1..0 # SKIP there is no place for a venv"
	exit
fi
site=$(echo "$venv"/lib/python3*/site-packages)
mkdir "$site/numbers_of_ours"
echo 'value = 42' >"$site/numbers_of_ours/__init__.py"
echo 'value = 43' >"$site/numbers_of_ours/random.py"
printf '%s\n' 'import os, signal' 'if os.fork() == 0:' '    signal.pause()' >"$site/helper_of_ours.py"
cat >>"$ced_folder/ced.conf" <<END
runtime hollow {
	interpreter = "/usr/bin/python3"
	preload = {"json", "absent_of_ours"}
	workers_min = 1
}
runtime ours {
	interpreter = "$venv/bin/python"
	preload = {"json", "numbers_of_ours.random"}
	workers_min = 1
}
runtime helped {
	interpreter = "$venv/bin/python"
	processes = true
	preload = {"helper_of_ours"}
	workers_min = 1
}
END
chmod -R a+rX "$ced_folder/ced.conf" "$venv"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

said() { cectl run --json "$@" 2>/dev/null; }
for code in 'import numbers_of_ours' 'import json, numbers_of_ours.random' 'from numbers_of_ours import value'; do
	like "$(json "$(said -c "$code")" 'it["reason"]')" \
		"No module named 'numbers_of_ours'; the runtime ours has numbers_of_ours: run it with language \"ours\"$" \
		"python tells who runs '$code' which runtime has it"
	like "$(cectl explain last)" 'run it with[[:space:]]+language "ours"' "and so does explain"
done
code='raise FileNotFoundError(2, "No such file or directory", "/usr/share/numbers_of_ours/table")'
like "$(json "$(said -c "$code")" 'it["reason"]')" 'the runtime ours has numbers_of_ours: run it with language "ours"$' \
	"who misses the data of a module is told the same"
is "$(cectl run --language ours -c 'import numbers_of_ours as n; print(n.value)')" 42 "where it is"
for code in 'import absent_of_ours' 'import nobodys' 'import numbers_of' 'raise ModuleNotFoundError("numbers_of_ours")' \
	"raise ValueError(\"No module named 'numbers_of_ours'\")"; do
	unlike "$(json "$(said -c "$code")" 'it["reason"]')" 'the runtime' "nobody is said to have what '$code' wants"
done
for more in "" --deterministic; do
	unlike "$(json "$(said $more --language ours -c 'import numbers_of_ours.absent')" 'it["reason"]')" 'the runtime' \
		"nor a run ${more:-in it} to go where it is"
done
is "$(cectl run --language helped -c 'print(1)')" 1 "a module that leaves a process behind does not hold its runtime up"
list=$(json "$(cectl runtimes --json)" '{one["name"]: one["preload"] for one in it["runtimes"]}["hollow"]')
is "$list" json "runtimes lists what was imported, not what was to be"
done_testing
