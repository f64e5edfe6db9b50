/*
 * Makes the kernel reclaim the memory that a finished run leaves charged to its slot's cgroup,
 * although all its processes are dead: names that it looked up and pages of files that it read.
 *
 * This memory would raise the memory peak of the next run.  Also, when a limit is lowered, the
 * kernel reclaims it while the writer of the limit waits, for more than a second per gigabyte.  So
 * the daemon does it on a thread before it makes the next worker.  It does this for one slot at a
 * time, because other work needs these threads too.
 *
 * Further leaves, which kept states of a session had, are emptied in the same way.  A later session
 * that opens them would have their rest on its account.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/worker.h"

#define RECLAIM_ABOVE      ((uint64_t)8 << 20) /* may stay; a plain program leaves less than 1 MiB */
#define RECLAIM_LEAF_ABOVE ((uint64_t)1 << 20) /* may stay in each further leaf */

struct reclaim {
	uv_loop_t *loop;
	bool busy;
	struct worker *worker; /* whose memory is being reclaimed; NULL: none, or it was closed */
	void (*on_done)(void *context, struct worker *worker); /* the worker may be NULL */
	void *context;
};

/*
 * True: the caller must wait for on_done().  Either this slot's memory is being reclaimed, or
 * another slot's is, and this one comes after it.
 */
bool reclaim_start(struct reclaim *reclaim, struct worker *worker);

/* The worker is being closed.  on_done() will not get it. */
void reclaim_forget(struct reclaim *reclaim, const struct worker *worker);
