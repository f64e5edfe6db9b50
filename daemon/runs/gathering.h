/*
 * Collects the artifacts of one run.  The slot's collector writes them into a pipe.  They are
 * complete when the pipe has ended and the slot has reported the collector's end, in either order.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/worker.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

struct gathering {
	struct watch *pipe; /* NULL: closed */
	struct buf bytes;   /* in the format that artifacts_read() reads */
	bool asked;         /* the slot has not yet reported the collector's end */
	void (*on_end)(void *owner);
	void *owner;
};

/*
 * Sends the request to the slot of a dead worker.  on_end() follows once, from the loop; not after
 * -1.
 */
int gathering_start(struct gathering *gathering, struct worker *worker, const struct job_spec *spec,
	struct err *err);

/* The slot reported that its collector has ended. */
void gathering_collected(struct gathering *gathering);

/* Stops reading and keeps the bytes.  May be called again. */
void gathering_close(struct gathering *gathering);

/* Stops reading and frees the bytes. */
void gathering_done(struct gathering *gathering);
