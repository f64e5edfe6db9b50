/*
 * The four connections to one worker, before they are watched: the job socket, stdout, stderr and
 * the lifeline.  Closing the lifeline kills the worker.
 */
#pragma once

#include "proto/base/err.h"

/* -1: closed, or passed on. */
struct way {
	int ours, theirs;
};

struct ways {
	struct way job, out, errout, lifeline;
};

/*
 * Opens all of them.  Our ends are non-blocking, except for the lifeline, which is never written.
 * The worker configures its own ends.
 */
int ways_open(struct ways *ways, struct err *err);

/* Closes the worker's ends once they are sent. */
void ways_close_theirs(struct ways *ways);

/* Closes both ends.  May be called again. */
void ways_close(struct ways *ways);
