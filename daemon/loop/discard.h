/*
 * Frees memory at once, or on a thread when there is so much of it that the kernel needs time.
 * Freeing a hundred megabytes of small values would block a loop for thirty milliseconds.
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

#include "proto/base/arena.h"

/*
 * Frees everything in the arena, and `bytes` (from malloc, or NULL).  With `loop` NULL it frees at
 * once.
 */
void discard(uv_loop_t *loop, struct arena *arena, char *bytes);
