/*
 * Work that runs on threads for users: queries of the store, and passes over large messages and
 * outputs (decoding, checking, masking).
 *
 * Users take turns (fair_queue.h).  No user gets all threads, so one user's long list does not
 * block the others.  The work of one user starts in the order in which it was requested.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/fair_queue.h"
#include "daemon/loop/loop.h"

#define THREAD_WORK_MOST     4 /* running at a time; libuv has as many threads */
#define THREAD_WORK_PER_USER 3 /* of these for one user, so that another user finds a free one */

struct thread_work {
	uv_loop_t *loop;
	struct fair_lane users;
	bool stopped;
};

void thread_work_init(struct thread_work *work, uv_loop_t *loop);

/*
 * Runs `run` on a thread when it is this user's turn, then `done` in the loop.  -1: not accepted.
 */
int thread_work_start(
	struct thread_work *work, uint32_t uid, work_fn *run, work_fn *done, void *context);

/*
 * Cancels waiting work: calls its `done` now, without `run`.  Work that is running finishes
 * normally.
 */
void thread_work_stop(struct thread_work *work);
