/*
 * The wall clock, watched.  It is a label in records and nothing else: limits and waits go by a
 * clock that nobody can set.  But run ids begin with it, and lists are in the order of ids, so a
 * jump is told and counted, and a small step back, also over a restart, does not bring new runs
 * before old ones.
 */
#pragma once

#include <stdint.h>

#include "daemon/loop.h"
#include "proto/ulid.h"
#include "proto/value.h"

#define WALLCLOCK_BACK_MS ((uint64_t)24 * 3600 * 1000) /* ids wait for the clock so long */

struct wallclock {
	struct timer *timer;
	int64_t ahead_us; /* the wall clock's lead on the other one, at the last look */
	uint64_t jumps;
	int64_t last_jump_ms;  /* + forwards, - back */
	int64_t believed_us;   /* the lead that has stood for a day, or since the start */
	int64_t calm_since_us; /* by the other clock: it has not jumped since */
};

/*
 * Starts to watch.  When the newest record is later than now by no more than WALLCLOCK_BACK_MS,
 * ids go on from there; what is further ahead was a clock that was wrong, and is left alone.
 */
void wallclock_start(
	struct wallclock *wallclock, uv_loop_t *loop, uint64_t newest_ms, struct ulid_source *ids);
void wallclock_stop(struct wallclock *wallclock);

/* Looks whether it has jumped since the last look; the timer does, every second. */
void wallclock_look(struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/*
 * The latest moment that has surely come: now, but a clock that was set ahead is not believed until it
 * has stood so for a day.  For what cannot be taken back.
 */
int64_t wallclock_surely_us(const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/* {jumps, last_jump_ms} */
struct value *wallclock_describe(const struct wallclock *wallclock, struct arena *arena);
