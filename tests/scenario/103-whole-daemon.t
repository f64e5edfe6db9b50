#!/bin/bash
# A whole daemon, with whatever instruments it was built, against clients that send anything.  A short
# look with a fixed seed; `./dev fuzz` takes as long as it is told, with CED_FUZZ_SECONDS and CED_FUZZ_SEED.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
cat >"$work/ced.conf" <<'CONF'
cgroups = "auto"
socket_mode = 0666
message_bytes = 1mb
message_ms = 2s
unsent_bytes = 2mb
held_bytes = 64mb
held_bytes_per_uid = 24mb
connections_max = 24
connections_per_uid = 10
requests_per_connection = 8
queue_ms = 20s
parked_max = 16
CONF
ced_arguments=(--config "$work/ced.conf")
# Reports go to the daemon's log; none may end up elsewhere.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=stderr
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}log_path=stderr:halt_on_error=0
export UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}print_stacktrace=1
daemon_start

bound=(--batches 12)
[[ -z ${CED_FUZZ_SECONDS:-} ]] || bound=(--seconds "$CED_FUZZ_SECONDS")
/usr/bin/python3 "$here/../fuzz/daemon.py" --spawner "$ced_spawner" --seed "${CED_FUZZ_SEED:-3}" "${bound[@]}" >"$work/said"
ok $? "a daemon that is sent anything serves on"
diag "$(cat "$work/said")"

kill "$ced_spawner"
wait "$ced_spawner"
is $? 0 "and stops as it is told to"
ced_spawner=
reports=$(grep -aE -A 40 'Sanitizer|runtime error:|Assertion|assertion' "$ced_log" | head -n 200)
is "$reports" "" "and no instrument has anything to report"
[[ -z ${CED_FUZZ_LOG:-} ]] || cp "$ced_log" "$CED_FUZZ_LOG"
done_testing
