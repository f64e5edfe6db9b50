/*
 * The memory cgroups above the jails: ours, and those above it.  When one of them runs out, the
 * kernel kills a program somewhere below it that may have kept its own limit.  Which one it was is
 * told by counters that are looked at from time to time: the one that grew lately.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_MOST     12 /* levels that are looked at */
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
 * Opens the counters of the cgroup `path` and of all above it; `mount` shows the hierarchy from
 * `root` on.
 */
void overhead_open(
	struct overhead *overhead, const char *mount, const char *root, const char *path);

/* The same for the memory cgroup that this process is in.  None: there is nothing to tell of. */
void overhead_open_own(struct overhead *overhead);
void overhead_close(struct overhead *overhead);

/* Looks at the counters.  To be called from time to time. */
void overhead_look(struct overhead *overhead);

/* The lowest level that ran out since the look before the last one, or NULL; and its limit, 0: none. */
const struct overhead_level *overhead_short(struct overhead *overhead, uint64_t *ret_limit_bytes);

/* What is left of the smallest limit, or of the host's memory where that is less. */
uint64_t overhead_room(const struct overhead *overhead);
