/*
 * The four ways between us and one worker, before they are watched: the job socket, its stdout and
 * stderr, and the lifeline, whose closing ends it.
 */
#pragma once

#include "proto/base/err.h"

/* -1: closed, or handed on. */
struct way {
	int ours, theirs;
};

struct ways {
	struct way job, out, errout, lifeline;
};

/* Ours do not wait, except for the lifeline, which nobody writes to; theirs are the worker's business. */
int ways_open(struct ways *ways, struct err *err);

/* The worker's ends, when it has got them. */
void ways_close_theirs(struct ways *ways);

/* Both ends.  May be called again. */
void ways_close(struct ways *ways);
