/*
 * Watches the wall clock for jumps, which it logs and counts.  Limits and waits use the monotonic
 * clock, but records have the wall time, run ids begin with it, and lists are in the order of ids.
 * After a small step back, new runs still get ids after the old ones, also over a restart.
 */
#pragma once

#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/record/recorder.h"
#include "proto/ulid.h"
#include "proto/value.h"

#define WALLCLOCK_BACK_MS \
	((uint64_t)24 * 3600 * 1000) /* ids continue from the newest record for this time */

struct wallclock {
	struct timer *timer;
	int64_t ahead_us; /* wall clock minus monotonic clock, at the last look */
	uint64_t jumps;
	int64_t last_jump_ms;      /* + forwards, - back */
	int64_t believed_us;       /* the difference that is trusted: without a jump for a day */
	int64_t calm_since_us;     /* monotonic time since when there was no jump */
	int64_t set_ahead_us;      /* how far the clock was set ahead since it was last trusted */
	struct recorder *recorder; /* gets the state at each look, for the store's mark; or NULL */
};

/*
 * Starts to watch.  `before` is the state that the last daemon wrote.  A difference of at most a
 * day counts as time that has passed.  A larger one does not: then the clock is trusted after a
 * day without a jump.  Without a written state, no time counts as passed until then.  The recorder
 * may be NULL.  If the newest record is ahead of now by at most WALLCLOCK_BACK_MS, ids continue
 * from it; otherwise they follow the clock.
 */
void wallclock_start(struct wallclock *wallclock, uv_loop_t *loop, struct recorder *recorder,
	const struct store_clock *before, uint64_t newest_ms, struct ulid_source *ids);
void wallclock_stop(struct wallclock *wallclock);

/* As wallclock_start(), without the timer. */
void wallclock_recall(struct wallclock *wallclock, const struct store_clock *before,
	int64_t wall_us, int64_t steady_us);

/* Looks whether the clock has jumped since the last look. The timer calls it every second. */
void wallclock_look(struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/*
 * The latest moment that has certainly passed: now, unless the clock was set ahead within the last
 * day.  For work that cannot be undone.
 */
int64_t wallclock_surely_us(const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/* The state for the next daemon. */
struct store_clock wallclock_worth(
	const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/* {jumps, last_jump_ms, doubted_ms}; doubted_ms: how far it was set ahead since last trusted. */
struct value *wallclock_describe(const struct wallclock *wallclock, struct arena *arena);
