/*
 * The memory cgroups above the jails: our own and its ancestors.  When one of them runs out, the
 * kernel kills a program somewhere below it, even one within its own limit.  To find that cgroup,
 * the daemon reads their counters at an interval and looks for one that grew recently.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_MOST     12 /* levels to look at */
#define OVERHEAD_PATH_MAX 256

struct overhead_level {
	char path[OVERHEAD_PATH_MAX]; /* in its hierarchy: "/system.slice/ced.service" */
	int counter; /* v1 memory.failcnt; v2 memory.events.local, of which "oom" counts */
	int limit;   /* v1 memory.limit_in_bytes, v2 memory.max */
	int used;    /* v1 memory.usage_in_bytes, v2 memory.current */
	uint64_t now, before;
};

struct overhead {
	struct overhead_level levels[OVERHEAD_MOST]; /* the lowest first */
	unsigned count;
};

/*
 * Opens the counters of the cgroup `path` and of all its ancestors.  `mount` is where the hierarchy
 * is mounted, and `root` is the cgroup that is visible there.
 */
void overhead_open(
	struct overhead *overhead, const char *mount, const char *root, const char *path);

/* The same for the memory cgroup of this process.  It may find none. */
void overhead_open_own(struct overhead *overhead);
void overhead_close(struct overhead *overhead);

/* Reads the counters.  The owner calls this at an interval. */
void overhead_look(struct overhead *overhead);

/*
 * Returns the lowest level that ran out since the look before the last one, or NULL.
 * *ret_limit_bytes is its limit; 0: none.
 */
const struct overhead_level *overhead_short(struct overhead *overhead, uint64_t *ret_limit_bytes);

/* Returns the bytes left of the tightest limit, or of the host's memory if that is less. */
uint64_t overhead_room(const struct overhead *overhead);
