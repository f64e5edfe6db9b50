#!/bin/bash
# A daemon does not start without a layer that its settings require, and says what is missing; one
# that starts with less says so in its log, in its state and in every result.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root can take things away from others"

programs=$(ced_programs)
spawner=$programs/bin/ced-spawner
own=$ced_folder/own # of a user without rights, in namespaces of their own or not
mkdir -m 755 "$own"
mkdir -m 700 "$own/run" "$own/state"
chown 65534:65534 "$own/run" "$own/state"

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)

# starts SETTINGS COMMAND...: a daemon of nobody's that is expected to leave by itself; its log is $log.
starts_not() {
	local settings=$1 name=$2
	shift 2
	echo "$settings" >"$own/ced.conf"
	timeout 30 "$@" "$spawner" -- --config "$own/ced.conf" --socket "$own/run/ced.sock" \
		--state "$own/state" >"$own/log" 2>&1 </dev/null
	is $? 1 "$name"
	log=$(<"$own/log")
}

missing() {
	grep -c "^<$1>ced layer.missing layer=$2 .* repair=" "$own/log"
}

# --- refused ----------------------------------------------------------------------------------

starts_not "" "without cgroups a daemon does not start" \
	unshare -m bash -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' -
for layer in memory pids cpu; do
	is "$(missing 3 $layer)" 1 "$layer is told once, with its repair"
done
like "$log" 'start.failed why="required and not here: memory, pids, cpu ' "and all of them at the end"
like "$log" 'cectl doctor' "with who knows more"

starts_not 'cgroups = "auto" require = {"pids"}' "nor when one of them is required by name" \
	unshare -m bash -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' -
is "$(missing 3 pids)$(missing 4 memory)" 11 "the others are warnings"

starts_not 'cgroups = "auto" require = {"uids"}' "nor an ordinary user's where each worker must have its uid" "${nobody[@]}"
is "$(missing 3 uids)" 1 "and that is said"

starts_not 'cgroups = "auto" require = {"moon"}' "nor with a layer that nobody knows" "${nobody[@]}"
like "$log" 'there is no layer \\"moon\\"' "by name"

starts_not 'cgroups = "auto"' "nor where there are no user namespaces" \
	setpriv --reuid 65534 --regid 65534 --clear-groups \
	unshare -U --map-user=1000 --keep-caps bash -c '
		echo 0 >/proc/sys/user/max_user_namespaces &&
			exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all "$@"' -
like "$log" 'start.failed why="inspector: clone3 .*No space left on device" repair="[^"]*cectl doctor' \
	"and it does not try for ever"

if [[ $(uname -m) == x86_64 ]]; then
	install -m 644 "$here/refuse.py" "$own/refuse.py" # the checkout may be closed to others
	without_landlock=("${nobody[@]}" /usr/bin/python3 "$own/refuse.py" 95 444 --)
	starts_not 'cgroups = "auto"' "nor where the kernel has Landlock and it is switched off" \
		"${without_landlock[@]}"
	is "$(missing 3 landlock)" 1 "which is said, with its repair"
fi

# --- accepted, and told -----------------------------------------------------------------------

# told_by SOCKET MODE WORDS: each limit of a run and of its record is held by somebody, and by whom.
told_by() {
	local socket=$1 mode=$2 words=$3
	out=$(cectl run --socket "$socket" --json -c 'print(1)')
	is "$(json "$out" 'sorted(set(it["limits"]) - {"enforced_by"}) == sorted(it["limits"]["enforced_by"])')" \
		true "$mode: each limit says who held it"
	is "$(json "$out" 'sorted({it["limits"]["enforced_by"][name] for name in ("memory_bytes", "pids", "cpu_ms")})')" \
		"$words" "$mode: and who"
	is "$(json "$out" 'it["limits"]["enforced_by"]')" \
		"$(json "$(cectl show --socket "$socket" --json last)" 'it["limits"]["enforced_by"]')" \
		"$mode: the record says the same"
	like "$(cectl show --socket "$socket" last)" 'memory .*(cgroup|rlimit)' "$mode: and shows it"
}

# nobodys SETTINGS COMMAND...: a daemon of nobody's that runs; ends with daemon_stop.
nobodys() {
	local settings=$1 tries
	shift
	printf '%s\nworkers_min = 1\nworkers_max = 1\n' "$settings" >"$own/ced.conf"
	rm -f "$own/run/ced.sock"
	: >"$own/log" # what the last one said is not believed
	"$@" "$spawner" -- --config "$own/ced.conf" --socket "$own/run/ced.sock" \
		--state "$own/state" >"$own/log" 2>&1 </dev/null &
	ced_spawner=$!
	for ((tries = 0; tries < 1200; tries++)); do
		grep -q 'ced ready' "$own/log" && break
		sleep 0.1
	done
}

nobodys 'cgroups = "auto"' "${nobody[@]}"
status=$(cectl status --socket "$own/run/ced.sock" --json)
is "$(json "$status" 'it["host"]["missing"]')" '["memory", "pids", "cpu", "cgroup_kill", "uids"]' \
	"an ordinary user's daemon tells what it is without"
is "$(missing 4 memory)$(missing 4 pids)$(missing 4 cpu)" 111 "and has warned of it"
told_by "$own/run/ced.sock" "ordinary user" '["rlimit"]'
daemon_stop

if [[ $(uname -m) == x86_64 ]]; then
	nobodys 'cgroups = "auto" require = {}' "${without_landlock[@]}"
	status=$(cectl status --socket "$own/run/ced.sock" --json)
	is "$(json "$status" '"landlock" in it["host"]["missing"]')" true "without Landlock it starts when it may"
	is "$(missing 4 landlock)" 1 "and has warned of it"
	is "$(cectl run --socket "$own/run/ced.sock" -c 'print(6 * 7)')" 42 "and runs"
	daemon_stop
fi

daemon_start
version=$(json "$(cectl status --json)" 'it["host"]["memory"]')
told_by "$CED_SOCKET" root "[\"$version\"]"
is "$(json "$(cectl status --json)" '[name for name in it["host"]["missing"] if name != "cgroup_kill"]')" '[]' \
	"a daemon with all of it misses nothing"
done_testing
