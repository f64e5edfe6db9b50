/*
 * A small layer over libuv: watch a descriptor, set a timer, run work on a thread.
 *
 * The caller owns a watch or a timer from x_new() to x_close().  After x_close() returns, its
 * callback does not run again.  The memory is freed once the loop no longer uses it.  Both
 * x_close() functions accept NULL.  All watches of one loop belong to one thread.
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

/* Watches `fd` for UV_READABLE and/or UV_WRITABLE.  Takes `fd`, even when it fails (NULL). */
struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_ready *on_ready, void *owner);

/* Changes the events to wait for.  0: none. */
void watch_want(struct watch *watch, int events);
int watch_fd(const struct watch *watch);

/* Stops watching and closes the descriptor at once. */
void watch_close(struct watch *watch);

/*
 * Takes the place of `fd` in the loop's own epoll set.  Fails when the kernel has no place left for
 * our user.  Code that lets libuv itself watch a descriptor must call this before each call that
 * starts to wait (uv_accept(), uv_read_start(), uv_write()).  Without a place libuv would abort.
 */
int loop_hold_place(uv_loop_t *loop, int fd, struct err *err);

/* Fires once after `ms`, then every `repeat_ms` when that is not 0. */
struct timer *timer_new(
	uv_loop_t *loop, uint64_t ms, uint64_t repeat_ms, timer_due *on_due, void *owner);
void timer_set(struct timer *timer, uint64_t ms);
void timer_close(struct timer *timer);

/* Runs `work` on a thread, then `done` in the loop.  -1: it could not be started. */
typedef void work_fn(void *context);
int work_start(uv_loop_t *loop, work_fn *work, work_fn *done, void *context);
