#!/bin/bash
# Runtimes of Python beside the usual one: with data libraries, with processes, of a venv.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
has() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
{
	echo 'runtime python-mp { workers_min = 2 workers_max = 4 }'
	has matplotlib && has pandas && echo 'runtime python-data { workers_min = 2 workers_max = 4 }'
} >>"$ced_folder/ced.conf"
# Not below /tmp, where a jail has a folder of its own, nor below /var, which no jail sees.
venv=$(mktemp -d /opt/ced-venv.XXXXXX 2>/dev/null)
trap 'rm -rf "${venv:-$ced_folder/venv}"; ced_leave' EXIT
if [[ -n $venv ]] && /usr/bin/python3 -m venv --without-pip "$venv" 2>/dev/null; then
	site=$(echo "$venv"/lib/python3*/site-packages)
	mkdir "$site/ours"
	echo 'def where(): return __file__' >"$site/ours/__init__.py"
	printf 'runtime venv {\n interpreter = "%s"\n preload = {"json", "ours"}\n workers_min = 1\n}\n' \
		"$venv/bin/python" >>"$ced_folder/ced.conf"
fi
chmod -R a+rX "$ced_folder/ced.conf" ${venv:+"$venv"}
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 -B "$here/307-profiles.py" "$venv" "$ced_log" "$here/../programs"
