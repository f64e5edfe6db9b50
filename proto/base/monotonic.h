/*
 * The monotonic clock, which no process can set.  Every limit and every timer uses it.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t clock_us_of(clockid_t clock)
{
	struct timespec now = { 0 };

	/* fails only for the clock of a process that has ended: 0 */
	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t clock_us(void)
{
	return clock_us_of(CLOCK_MONOTONIC);
}

static inline int64_t clock_ms(void)
{
	return clock_us() / 1000;
}
