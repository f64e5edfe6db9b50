# Sourced after lib.sh by scenarios of clients/python.
# shellcheck shell=bash
source=$(cd "${here:?}/../.." && pwd)
client=$source/clients/python
conformance=$source/clients/conformance
cases=()
for file in "$conformance"/*.json; do
	[[ $file == */schema.json ]] || cases+=("$file")
done
export PYTHONPATH=$client/src PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || skip_all "no python3-msgpack here"

# patient_daemon: a daemon whose runs may take a minute of time, since most tests are about something else.
patient_daemon() {
	printf 'limits { wall_ms = 1min cpu_ms = 1min }\n%s\n' "$*" >>"$ced_folder/ced.conf"
	chmod 644 "$ced_folder/ced.conf"
	ced_arguments=(--config "$ced_folder/ced.conf")
	daemon_start
}
