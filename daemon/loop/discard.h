/*
 * Gives memory back: at once, or on a thread when it is so much that the kernel takes its time over
 * it.  A hundred megabytes of small values hold a loop for thirty milliseconds.
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

#include "proto/base/arena.h"

/* Takes what the arena holds, and `bytes` (from malloc, or NULL).  `loop` NULL: at once. */
void discard(uv_loop_t *loop, struct arena *arena, char *bytes);
