# Sourced after lib.sh by scenarios of clients/python.
# shellcheck shell=bash disable=SC2034,SC2154
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
# It has the policies of the cases; they are copied, since ced may not be able to read the checkout.
patient_daemon() {
	mkdir -m 755 "$ced_folder/policies"
	install -m 644 "$conformance/policies"/*.json "$ced_folder/policies"
	printf 'policies = "%s"\nlimits { wall_ms = 1min cpu_ms = 1min }\n%s\n' "$ced_folder/policies" "$*" \
		>>"$ced_folder/ced.conf"
	chmod 644 "$ced_folder/ced.conf"
	ced_arguments=(--config "$ced_folder/ced.conf")
	daemon_start
}

# python_tests_daemon: a daemon for the tests in clients/python/tests: user 4002 approves, and two sessions may be open.
python_tests_daemon() {
	patient_daemon 'socket_mode = "0666"
admins = {4002}
sessions_per_uid = 2
sessions_max = 6
workers_max = 12
runtime python-data { workers_min = 1 workers_max = 3 }'
	chmod 755 "$ced_folder/run"
}
