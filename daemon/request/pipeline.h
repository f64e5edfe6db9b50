/*
 * The table of stages and the walk through it.
 *
 *	CONTRACT -> REPEAT -> BUDGET -> POLICY -> (APPROVAL) -> CACHE -> MARK
 *	         -> QUEUE -> WORKER -> OUTPUT -> RECORD -> REPLY -> EXIT
 *
 * Any may go on to RECORD early, and a hit in CACHE to OUTPUT; the table in pipeline.c has every door.
 * APPROVAL has a door back to CONTRACT: what a person let run is looked at again as it is now.  And
 * one to EXIT: what waits when the daemon ends has no end to record, and waits on in the store.
 *
 * A stage returns the next one, or STAGE_WAIT when it waits for a callback; the callback then
 * calls request_enter() with the stage that comes next.
 */
#pragma once

#include "daemon/request/request.h"

/* Walks from `next` until a stage waits or the request has left the house. */
void request_enter(struct request *request, enum stage next);

const char *stage_word(enum stage stage);

/* Whether a request may go from one stage to the other. */
bool stage_has_door(enum stage from, enum stage to);

/* Ends what it waits for, where its stage can do that. */
void stage_cancel(struct request *request);

/* Gives back what the stages that it has been in have taken, the last stage first. */
void stages_leave(struct request *request);

/* A request that had entered these stages has gone: others may go on. */
void stages_go_on(struct services *services, unsigned entered);
