/*
 * A thread rings a bell to tell the loop that it has left something for it.
 *
 * uv_async_send() does the same, but the loop then spins until that call has returned in the thread.
 * On a busy processor the woken loop keeps the thread from returning: it spins, yields, and a third
 * process runs for a whole turn.
 */
#pragma once

#include <uv.h>

#include "proto/base/err.h"

struct bell;

/* `on_rung` runs in the loop, once or more often after each time that the bell was rung. */
struct bell *bell_new(uv_loop_t *loop, void (*on_rung)(void *owner), void *owner, struct err *err);

/* From any thread.  A thread that holds a lock which on_rung takes should release it before. */
void bell_ring(const struct bell *bell);

/* In the loop.  No thread may ring any more.  NULL is ignored. */
void bell_close(struct bell *bell);
