/*
 * The table of stages and the walk through it.
 *
 *	CONTRACT -> REPEAT -> BUDGET -> POLICY -> (APPROVAL) -> CACHE -> MARK
 *	         -> QUEUE -> WORKER -> OUTPUT -> RECORD -> REPLY -> EXIT
 *
 * Any stage may go on to RECORD early, and a hit in CACHE goes to OUTPUT.  The table in pipeline.c
 * has every door.  APPROVAL has two more: an approved run goes back to CONTRACT, which checks it
 * again.  A run that still waits when the daemon ends goes to EXIT without a recorded end; the
 * store keeps it.
 *
 * A stage returns the next one, or STAGE_WAIT when it waits for a callback.  The callback then
 * calls request_enter() with the next stage.
 */
#pragma once

#include "daemon/request/request.h"

/* Runs stages from `next` on, until one waits or the request has ended. */
void request_enter(struct request *request, enum stage next);

const char *stage_word(enum stage stage);

/* Whether a request may go from one stage to the other. */
bool stage_has_door(enum stage from, enum stage to);

/* Ends the waiting of the request, if its stage has a `cancel`. */
void stage_cancel(struct request *request);

/* Releases what the entered stages have taken, the last stage first. */
void stages_leave(struct request *request);

/* Call it after a request with these stages has ended: resumes requests that waited for that. */
void stages_go_on(struct services *services, unsigned entered);
