/*
 * What a run leaves in the account of its slot's cgroup though every process of it is dead: names
 * that it looked up, pages of files that it read.  The next run's peak would tell of it, and where
 * a limit goes down again the kernel takes it back while whoever writes the limit waits: more than
 * a second for a gigabyte.  So it is taken back on a thread, before the next worker is made, and
 * for one slot at a time, since others want these threads too.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/worker.h"

#define RESIDUE_MOST ((uint64_t)8 << 20) /* stays; a plain program leaves less than one */

struct residue {
	uv_loop_t *loop;
	bool busy;
	struct worker
		*worker; /* whose residue is taken back; NULL: nobody's, or it has been closed */
	void (*on_done)(void *context, struct worker *worker); /* the worker may be NULL */
	void *context;
};

/* True: it is being taken back and on_done() will come, or another's is, and it must wait for that. */
bool residue_take_back(struct residue *residue, struct worker *worker);

/* The worker goes: nobody is told of it any more. */
void residue_forget(struct residue *residue, const struct worker *worker);
