/*
 * Returns freed memory to the system.  The C library keeps small freed pieces while something above
 * them is still in use.  Without this, one client that never reads its replies would leave the
 * daemon large for the rest of its life.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"

#define TRIM_BYTES ((uint64_t)4 << 20) /* worth a search through all free memory */

/* Whether `held` has fallen by TRIM_BYTES since the peak.  If so, the peak restarts at `held`. */
bool trim_is_due(uint64_t *peak, uint64_t held);

/* Trims on a thread.  Does nothing when no thread can be used. */
void trim_start(uv_loop_t *loop);
