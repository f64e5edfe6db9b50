/*
 * The probes: each tries one thing, in a child that doctor.c has made for it, and says what it
 * found.  The table in doctor.c tells what they are for.
 */
#pragma once

#include "cli/doctor/doctor.h"

#define PROBE(name) \
	int probe_##name(const struct patient *patient, struct finding *finding, struct err *err)

/* probe_kernel.c */
PROBE(version);
PROBE(machine);
PROBE(clone3);
PROBE(pidfd);
PROBE(close_range);
PROBE(openat2);
PROBE(memfd);
PROBE(populate);
PROBE(cores);

/* probe_namespaces.c */
PROBE(host_uids);
PROBE(user_namespace);
PROBE(user_nested);
PROBE(mnt_namespace);
PROBE(pid_namespace);
PROBE(net_namespace);
PROBE(ipc_namespace);
PROBE(uts_namespace);
PROBE(cgroup_namespace);
PROBE(time_namespace);
PROBE(namespace_quota);
PROBE(apparmor);

/* probe_mounts.c */
PROBE(mount_api);
PROBE(tmpfs_limits);
PROBE(binds);
PROBE(pivot);
PROBE(procfs);
PROBE(overlay);

/* probe_filters.c */
PROBE(seccomp_errno);
PROBE(seccomp_kill);
PROBE(seccomp_notify);
PROBE(landlock);

/* probe_cgroups.c */
PROBE(cgroup_version);
PROBE(cgroup_memory);
PROBE(cgroup_pids);
PROBE(cgroup_cpu);
PROBE(cgroup_kill);
PROBE(swap);

/* probe_programs.c */
PROBE(programs);
PROBE(configuration);
PROBE(interpreter);
PROBE(open_files);

/* probe_room.c */
PROBE(room);
PROBE(room_to_spare);

/* What they share, in probe_kernel.c: a number in a file below /proc/sys, or -1. */
long probe_sysctl(const char *name);

/* The first line of a file, without its end; "" when there is none. */
void probe_line(const char *path, char *ret_line, size_t size);
