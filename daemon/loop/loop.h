/*
 * Our few words for libuv: watch a descriptor, set a timer, run work on a thread.
 *
 * Watches and timers live on the heap from x_new() to x_close(); after x_close() returns, their
 * callback does not come any more, and the memory goes when the loop has let go of it.  A loop's
 * watches belong to one thread.  Both
 * x_close() functions accept NULL, so an owner can close what it may not have opened.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "proto/base/err.h"

struct watch;
struct timer;

typedef void watch_ready(void *owner, int events);
typedef void timer_due(void *owner);

/* Watches `fd` for UV_READABLE and/or UV_WRITABLE.  Takes `fd`, also on failure (NULL). */
struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_ready *on_ready, void *owner);

/* Changes what is waited for.  0 waits for nothing. */
void watch_want(struct watch *watch, int events);
int watch_fd(const struct watch *watch);

/* Stops, and closes the descriptor at once. */
void watch_close(struct watch *watch);

/*
 * Takes the place of `fd` in the loop's own epoll set, or says that the kernel has none left for our
 * user.  Whoever lets libuv watch a descriptor while the daemon runs asks this before each call that
 * begins to wait (uv_accept(), uv_read_start(), uv_write()): libuv itself would abort.
 */
int loop_hold_place(uv_loop_t *loop, int fd, struct err *err);

/* Fires once after `ms`, then every `repeat_ms` when that is not 0. */
struct timer *timer_new(
	uv_loop_t *loop, uint64_t ms, uint64_t repeat_ms, timer_due *on_due, void *owner);
void timer_set(struct timer *timer, uint64_t ms);
void timer_close(struct timer *timer);

/* Runs `work` on a thread, then `done` in the loop.  -1 when that could not be begun. */
typedef void work_fn(void *context);
int work_start(uv_loop_t *loop, work_fn *work, work_fn *done, void *context);
