/*
 * The table of stages and the walk through it.
 *
 *	CONTRACT -> POLICY -> QUEUE -> WORKER -> OUTPUT -> RECORD -> REPLY -> EXIT
 *
 * A stage returns the next one, or STAGE_WAIT when it waits for a callback; the callback then
 * calls request_enter() with the stage that comes next.
 */
#pragma once

#include "daemon/request.h"

/* Walks from `next` until a stage waits or the request has left the house. */
void request_enter(struct request *request, enum stage next);

const char *stage_word(enum stage stage);
