/*
 * Work that runs on threads for users: queries of the store, and passes over large outputs.
 *
 * Users take turns.  No user gets all threads, so one user's long list does not block the others.
 * The work of one user starts in the order in which it was requested.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "proto/base/list.h"

#define ERRANDS_MOST     4 /* running at a time; libuv has as many threads */
#define ERRANDS_PER_USER 3 /* of these for one user, so that another user finds a free one */

struct errands {
	uv_loop_t *loop;
	struct list lanes; /* users with work; the next one to serve is first */
	unsigned running;
	bool stopped;
};

void errands_init(struct errands *errands, uv_loop_t *loop);

/*
 * Runs `run` on a thread when it is this user's turn, then `done` in the loop.  -1: not accepted.
 */
int errands_start(
	struct errands *errands, uint32_t uid, work_fn *run, work_fn *done, void *context);

/*
 * Cancels waiting work: calls its `done` now, without `run`.  Work that is running finishes
 * normally.
 */
void errands_stop(struct errands *errands);
