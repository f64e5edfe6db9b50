/*
 * The artifacts of one run on their way out of its jail: the slot's collector writes into a pipe, and
 * what came is whole when the pipe has ended and the collector said so, in either order.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/worker.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

struct gathering {
	struct watch *pipe; /* NULL: nothing comes any more */
	struct buf bytes;   /* what came, as artifacts_read() takes it */
	bool asked;         /* the collector's end is still to be told */
	void (*on_end)(void *owner);
	void *owner;
};

/* Asks the slot of a worker that is dead.  on_end() follows from the loop, once; not after -1. */
int gathering_start(struct gathering *gathering, struct worker *worker, const struct job_spec *spec,
	struct err *err);

/* The slot says that its collector has ended. */
void gathering_collected(struct gathering *gathering);

/* Reads no more; what came stays.  May be called again. */
void gathering_close(struct gathering *gathering);

/* The same, and frees what came. */
void gathering_done(struct gathering *gathering);
