#!/bin/bash
# When a cgroup above the jails runs out of memory, that is not told of the program that the kernel picks.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root can have a cgroup with a limit"
memory=/sys/fs/cgroup/memory
[[ -e $memory/memory.limit_in_bytes ]] || skip_all "tried with cgroup v1 only: unit.knobs and unit.outer_cgroups have v2's counters"
own=$memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)/ced-scenario-$$
mkdir "$own" 2>/dev/null || skip_all "no cgroup can be made here"
before=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
leave_cgroup() {
	echo $$ >"$memory$before/cgroup.procs"
	daemon_stop
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmdir "$own" 2>/dev/null && break
		sleep 0.2
	done
	ced_leave
}
trap leave_cgroup EXIT
echo $$ >"$own/cgroup.procs"
printf 'cgroups = "required"\nworkers_min = 2\nworkers_max = 4\nruntime bash { off = true }\nruntime javascript { off = true }\n' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
echo $$ >"$memory$before/cgroup.procs"
used=$(cat "$own/memory.usage_in_bytes")
limit=$((used / 1048576 + 120))
echo $((limit * 1048576)) >"$own/memory.limit_in_bytes"
/usr/bin/python3 "$here/411-host-memory.py" "/$(basename "$own")"
