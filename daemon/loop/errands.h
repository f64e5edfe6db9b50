/*
 * What is done on threads for users: questions to the store, and looks at outputs that are large.
 *
 * Users take turns, and none has more than a part of the threads, so that nobody waits for all that
 * somebody else has asked for.  What one user asked for is begun in the order in which it came.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "proto/base/list.h"

#define ERRANDS_MOST     4 /* under way, as many as libuv has threads */
#define ERRANDS_PER_USER 3 /* of these, so that somebody else finds one */

struct errands {
	uv_loop_t *loop;
	struct list lanes; /* users who want something; who is next is first */
	unsigned running;
	bool stopped;
};

void errands_init(struct errands *errands, uv_loop_t *loop);

/* Runs `run` on a thread when it is this user's turn, then `done` in the loop.  -1: it cannot. */
int errands_start(
	struct errands *errands, uint32_t uid, work_fn *run, work_fn *done, void *context);

/* What waits is given up: its `done` comes now, without `run`.  What is under way ends as ever. */
void errands_stop(struct errands *errands);
