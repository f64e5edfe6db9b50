/*
 * Memory that a finished run leaves charged to its slot's cgroup, although all its processes are
 * dead: names that it looked up and pages of files that it read.
 *
 * Residue would raise the memory peak of the next run.  Also, when a limit is lowered, the kernel
 * reclaims the memory while the writer of the limit waits, for more than a second per gigabyte.  So
 * the daemon reclaims it on a thread before it makes the next worker.  It does this for one slot at
 * a time, because other work needs these threads too.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/worker.h"

#define RESIDUE_MOST ((uint64_t)8 << 20) /* may stay; a plain program leaves less than 1 MiB */

struct residue {
	uv_loop_t *loop;
	bool busy;
	struct worker
		*worker; /* the slot whose residue is taken back; NULL: none, or it was closed */
	void (*on_done)(void *context, struct worker *worker); /* the worker may be NULL */
	void *context;
};

/*
 * True: the caller must wait for on_done().  Either this residue is being taken back, or another
 * slot's is, and this one comes after it.
 */
bool residue_take_back(struct residue *residue, struct worker *worker);

/* The worker is being closed.  on_done() will not get it. */
void residue_forget(struct residue *residue, const struct worker *worker);
