/*
 * A worker's last steps into its jail, which it takes itself.
 *
 * The slot has forked it, as pid 2 of a new pid namespace, with the slot's rights and descriptors.
 * After worker_enter() it has no right, a mount namespace and cgroups of its own, the job's filter,
 * and only these descriptors:
 *
 *	0 /dev/null   1 stdout   2 stderr   3 job socket (close-on-exec)
 *
 * It inherits the rest from the slot: user, network, ipc, uts and cgroup namespaces, an empty
 * bounding set, locked securebits, no_new_privs, the base filter, umask 022.
 */
#pragma once

#include <stdint.h>

#include "proto/internal/slotmsg.h"
#include "sandbox/worker/files.h"
#include "sandbox/worker/footprint.h"

#define WORKER_JOB_FD  3
#define WORKER_TELL_FD 4 /* until the last step */

struct worker_plan {
	int job; /* any numbers from 3 upwards */
	int out;
	int error;
	int tell;         /* the socket for the listener: see seccomp_notify.h */
	const int *joins; /* "procs" files of the cgroups to join */
	unsigned join_count;
	const struct files *files;
	struct slotmsg_limits limits;
	uint32_t flags;
	uint64_t own_bytes;
	const struct footprint *footprint;
};

/* Takes every step, in order.  If one fails, the caller must exit. */
int worker_enter(const struct worker_plan *plan, struct err *err);
