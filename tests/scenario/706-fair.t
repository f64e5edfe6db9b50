#!/bin/bash
# One user cannot keep the others out: not with long runs, not with many, not with idle connections.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
conf() { # QUEUE_MS
	cat >"$work/ced.conf" <<CONF
cgroups = "auto"
socket_mode = "0666"
workers_min = 2
workers_max = 4
workers_reserve = 4
queue_max = 24
queue_per_caller = 12
queue_ms = $1
connections_max = 13
connections_per_uid = 6
most { wall_ms = 10min }
CONF
}
part() {
	/usr/bin/python3 "$here/706-fair.py" "$1" >"$work/said" 2>&1
	ok $? "$1: $(grep -c '^ok' "$work/said") checks"
	report "$work/said"
}
ced_arguments=(--config "$work/ced.conf")

# Short: runs are told that no worker was free in time.
conf 8s
daemon_start
part workers
daemon_stop

# Long: a run that waits leaves the queue only when another takes its place.
conf 300s
daemon_start
part queue
done_testing
