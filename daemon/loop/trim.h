/*
 * Memory that clients have given back, on its way to the system.  What is freed in small pieces stays
 * with the C library, since something above it is still in use; one client that never read its replies
 * would leave the daemon large for as long as it lives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"

#define TRIM_BYTES ((uint64_t)4 << 20) /* given back: worth the look through all that is free */

/* Whether so much more was held at the peak than is now; the peak begins anew then. */
bool trim_is_due(uint64_t *peak, uint64_t held);

/* Does it on a thread, unless none is to be had. */
void trim_start(uv_loop_t *loop);
