/*
 * The artifacts of one run.  The slot's collector writes them into a pipe.  They are complete when
 * the pipe has ended and the slot has reported the collector's end, in either order.
 *
 * The bytes come from the slot, which read a folder that a hostile program filled.  So this module
 * checks all names again.
 */
#pragma once

#include <stdbool.h>

#include "daemon/workers/worker.h"
#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

struct artifacts {
	struct watch *pipe; /* NULL: closed */
	struct buf bytes;   /* in the format that artifacts_read() reads */
	bool asked;         /* the slot has not yet reported the collector's end */
	bool stands;        /* its worker lives and stands still; set by the owner */
	bool cut;           /* the collector has failed, so files may be missing */
	void (*on_end)(void *owner);
	void *owner;
};

/*
 * Sends the request to the slot of a worker that is dead, or stands still.  on_end() follows once,
 * from the loop; not after -1.
 */
int artifacts_collect(struct artifacts *artifacts, struct worker *worker,
	const struct job_spec *spec, struct err *err);

/* Whether on_end() is still to be called: then no other request may be sent. */
bool artifacts_are_coming(const struct artifacts *artifacts);

/* The slot reported that its collector has ended; `status` is 0 if it has sent all. */
void artifacts_collected(struct artifacts *artifacts, int status);

/* Adds to *result that files may be missing, if that is so.  Comes after artifacts_read(). */
void artifacts_tell_cut(
	const struct artifacts *artifacts, bool is_readable, struct job_result *result);

/* The collector is late: files are missing, and on_end() is not called any more. */
void artifacts_give_up(struct artifacts *artifacts);

/* Stops reading and keeps the bytes.  May be called again. */
void artifacts_close(struct artifacts *artifacts);

/* Stops reading and frees the bytes. */
void artifacts_done(struct artifacts *artifacts);

/*
 * Fills artifacts and skipped of *result, which then point into `bytes`.  The program's own file is
 * no artifact while it is unchanged.  -1: the bytes are not what a collector sends.
 */
int artifacts_read(struct arena *arena, const struct buf *bytes, const struct job_spec *spec,
	struct job_result *result, struct err *err);
