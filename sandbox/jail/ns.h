/* The namespaces of a jail, and the id maps of its user namespace. */
#pragma once

#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

/* One line of a map: `count` ids from `inside` on are those from `outside` on, on the host. */
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
 * Starts a process in new namespaces.  Returns its pid and a pidfd; returns 0 in the child, which
 * must wait until its maps are written.  The child makes its cgroup namespace later, when it is in
 * its cgroup.
 */
pid_t ns_clone(uint64_t namespaces, int *ret_pidfd, struct err *err);

/* Writes the maps of a child; setgroups() is denied for good. */
int ns_write_maps(pid_t pid, const struct id_maps *maps, struct err *err);

/* Fails if uids from `first` on are not mapped in our own user namespace. */
int ns_check_range(uint32_t first, uint32_t count, struct err *err);
