/* Namespaces of a jail, and who is who in its user namespace. */
#pragma once

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

/* One line of a map: `count` ids from `inside` on are `outside` and the following on the host. */
struct id_map {
	uint32_t inside;
	uint32_t outside;
	uint32_t count;
};

struct id_maps {
	struct id_map uids;
	struct id_map gids;
};

#define NS_NONE ((uint64_t)0)
#define NS_JAIL                                                                                \
	((uint64_t)(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | \
		    CLONE_NEWNET))

/*
 * Starts a process in fresh namespaces.  Returns its pid and gives a pidfd; returns 0 in the child,
 * which must wait until its maps are written.  The cgroup namespace comes later, when the child is
 * in its cgroup.
 */
pid_t ns_clone(uint64_t namespaces, int *ret_pidfd, struct err *err);

/* Writes the maps of a child; setgroups() is denied for good. */
int ns_write_maps(pid_t pid, const struct id_maps *maps, struct err *err);

/* Fails when uids `first` and the following are not mapped where we live ourselves. */
int ns_check_range(uint32_t first, uint32_t count, struct err *err);
