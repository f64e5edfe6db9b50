/*
 * The clocks.  Every limit and every timer uses the monotonic one.  Wall time is only for people to
 * read, and appears only in records.
 */
#pragma once

#include "proto/base/monotonic.h"

/* Microseconds since 1970, for records. */
static inline int64_t clock_wall_us(void)
{
	return clock_us_of(CLOCK_REALTIME);
}
