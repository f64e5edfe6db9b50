#!/bin/bash
# Daemons that start at once on one host do not remove each other's cgroups.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root has uids for several daemons"
programs=$(ced_programs)
chmod 755 "$work"
for name in {1..4}; do
	mkdir "$work/state$name" "$work/run$name"
	chown nobody "$work/state$name" "$work/run$name"
done
echo 'cgroups = "auto"' >"$work/ced.conf"
chmod 644 "$work/ced.conf"

# Starts one and kills it, so that its cgroups stay behind.
start_and_kill() {
	local log=$work/log$1.$2
	"$programs/bin/ced-spawner" --user nobody --uid-base $((1000000 * $1)) -- --config "$work/ced.conf" \
		--socket "$work/run$1/sock" --state "$work/state$1" >"$log" 2>&1 &
	for ((i = 0; i < 300; i++)); do
		grep -qw started "$log" 2>/dev/null && break
		sleep 0.02
	done
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
}

for round in {1..12}; do
	for name in {1..4}; do
		start_and_kill "$name" "$round" &
	done
	wait
done
is "$(grep -hoE 'lock ced-[0-9]+[^"]*' "$work"/log*)" "" "each of 48 had the cgroups that it made"
is "$(grep -lw started "$work"/log* | wc -l)" 48 "and started"
done_testing
