/*
 * The four connections to one worker, before they are watched: the job socket, stdout, stderr and
 * the lifeline.  Closing the lifeline kills the worker.
 */
#pragma once

#include "proto/base/err.h"

/* -1: closed, or passed on. */
struct pipe_ends {
	int ours, theirs;
};

struct worker_pipes {
	struct pipe_ends job, out, errout, lifeline;
};

/*
 * Opens all of them.  Our ends are non-blocking, except for the lifeline, which is never written.
 * The worker configures its own ends.
 */
int worker_pipes_open(struct worker_pipes *pipes, struct err *err);

/* Opens only stdout and stderr, for the next cell of a session. */
int worker_pipes_open_output(struct worker_pipes *pipes, struct err *err);

/* Closes the worker's ends once they are sent. */
void worker_pipes_close_theirs(struct worker_pipes *pipes);

/* Closes both ends.  May be called again. */
void worker_pipes_close(struct worker_pipes *pipes);
