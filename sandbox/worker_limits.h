/*
 * The resource limits of one worker, as a table over struct slotmsg_limits.
 *
 * They are a second line behind cgroups, tmpfs sizes and clocks, except where the host has no
 * cgroup and a flag says that a row is the only line.  A program cannot change them, since its
 * filter refuses to set limits; so only soft limits are set, which the slot can move both ways
 * until the job comes.  A program may ignore the signal of the cpu limit: there the slot's own
 * watch (slot.c) has the last word.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "proto/internal/slotmsg.h"

#define WORKER_DISK_BYTES  (64U << 20) /* where the daemon asks for no number */
#define WORKER_DISK_INODES 4096U

/* What the tmpfs of a worker holds: the number asked for, or the profile's. */
uint64_t worker_disk_bytes(const struct slotmsg_limits *limits);
uint64_t worker_disk_inodes(const struct slotmsg_limits *limits);

/*
 * From now on RLIMIT_DATA holds memory where no cgroup does, and not RLIMIT_AS: for interpreters that
 * reserve addresses by the gigabyte.  `own_bytes` is what they write before any job.
 */
void worker_limits_count_data(uint64_t own_bytes);

/*
 * Sets the limits of `pid` (0: the caller).  `own_bytes` is the address space that the runtime
 * takes before any job; it is added where the address space is limited.
 */
int worker_limits_set(pid_t pid, const struct slotmsg_limits *limits, uint32_t flags,
	uint64_t own_bytes, struct err *err);
