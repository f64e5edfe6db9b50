/*
 * The table of stages and the walk through it.
 *
 *	CONTRACT -> REPEAT -> BUDGET -> POLICY -> (APPROVAL) -> CACHE -> BEGIN
 *	         -> QUEUE -> WORKER -> OUTPUT -> RECORD -> REPLY -> EXIT
 *
 * Any stage before WORKER may go on to RECORD early, and a hit in CACHE goes to OUTPUT.  An
 * approved run goes from APPROVAL back to CONTRACT, which checks it again.  A run that still waits
 * for approval when the daemon ends goes to EXIT without a recorded end; the store keeps it.  The
 * table in pipeline.c has every move.
 *
 * A stage returns the next one, or STAGE_WAIT when it waits for a callback.  The callback then
 * calls request_enter() with the next stage.
 */
#pragma once

#include "daemon/request/request.h"

struct run_registry;

/* Runs stages from `next` on, until one waits or the request has ended. */
void request_enter(struct request *request, enum stage next);

const char *stage_word(enum stage stage);

/* Whether a request may go from one stage to the other. */
bool stage_leads_to(enum stage from, enum stage to);

/*
 * Cancels the request and ends its waiting, if its stage has a `cancel`.  Does not cancel a request
 * whose client left while others wait for its result, nor, when the daemon ends, a run that the
 * store keeps.
 */
void request_cancel(struct request *request, enum kill_reason why);

/* The client disconnected: cancels the request unless it is detached and answered. */
void request_left(struct request *request);

/* Cancels every run in progress.  Returns their number, or -1 without memory. */
int64_t request_cancel_all(const struct run_registry *runs, enum kill_reason why);

/* Call it only for a request that has entered no stage; STAGE_EXIT frees the others. */
void request_free(struct request *request);
