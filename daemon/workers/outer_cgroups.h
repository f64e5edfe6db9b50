/*
 * The memory cgroups above the jails: our own and its ancestors.  When one of them runs out, the
 * kernel kills a program somewhere below it, even one within its own limit.  To find that cgroup,
 * the daemon reads their counters at an interval and looks for one that grew recently.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define OUTER_CGROUPS_MOST     12 /* levels to look at */
#define OUTER_CGROUPS_PATH_MAX 256

struct outer_cgroup {
	char path[OUTER_CGROUPS_PATH_MAX]; /* in its hierarchy: "/system.slice/ced.service" */
	int counter; /* v1 memory.failcnt; v2 memory.events.local, of which "oom" counts */
	int limit;   /* v1 memory.limit_in_bytes, v2 memory.max */
	int used;    /* v1 memory.usage_in_bytes, v2 memory.current */
	uint64_t now, before;
};

struct outer_cgroups {
	struct outer_cgroup levels[OUTER_CGROUPS_MOST]; /* the lowest first */
	unsigned count;
};

/*
 * Opens the counters of the cgroup `path` and of all its ancestors.  `mount` is where the hierarchy
 * is mounted, and `root` is the cgroup that is visible there.
 */
void outer_cgroups_open(
	struct outer_cgroups *outer_cgroups, const char *mount, const char *root, const char *path);

/* The same for the memory cgroup of this process.  It may find none. */
void outer_cgroups_open_own(struct outer_cgroups *outer_cgroups);
void outer_cgroups_close(struct outer_cgroups *outer_cgroups);

/* Reads the counters.  The owner calls this at an interval. */
void outer_cgroups_look(struct outer_cgroups *outer_cgroups);

/*
 * Returns the lowest level that ran out since the look before the last one, or NULL.
 * *ret_limit_bytes is its limit; 0: none.
 */
const struct outer_cgroup *outer_cgroups_short(
	struct outer_cgroups *outer_cgroups, uint64_t *ret_limit_bytes);

/* Returns the bytes left of the tightest limit, or of the host's memory if that is less. */
uint64_t outer_cgroups_room(const struct outer_cgroups *outer_cgroups);
