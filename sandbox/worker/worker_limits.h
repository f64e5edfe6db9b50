/*
 * The resource limits of one worker, as a table over struct slotmsg_limits.
 *
 * They are a second line behind cgroups, tmpfs sizes and clocks.  Where the host has no cgroup, a
 * flag makes a row the only line.  A program cannot change them, since its filter refuses to set
 * limits; so only soft limits are set, which the slot can raise and lower until the job comes.  A
 * program may ignore the signal of the CPU limit; then the slot kills it (slot.c).
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "proto/internal/slotmsg.h"

#define WORKER_DISK_BYTES  (64U << 20) /* used if the daemon gives no number */
#define WORKER_DISK_INODES 4096U

/* The size of a worker's tmpfs: the number asked for, or the default. */
uint64_t worker_disk_bytes(const struct slotmsg_limits *limits);
uint64_t worker_disk_inodes(const struct slotmsg_limits *limits);

/*
 * From now on RLIMIT_DATA limits memory where no cgroup does, instead of RLIMIT_AS: for
 * interpreters that reserve gigabytes of addresses.  `own_bytes` is what they write before any job.
 */
void worker_limits_count_data(uint64_t own_bytes);

/*
 * Sets the limits of `pid` (0: the caller).  `own_bytes` is the address space of the runtime before
 * any job; it is added to a limit of the address space.
 */
int worker_limits_set(pid_t pid, const struct slotmsg_limits *limits, uint32_t flags,
	uint64_t own_bytes, struct err *err);
