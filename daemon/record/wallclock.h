/*
 * The wall clock, watched.  It is a label in records and nothing else: limits and waits go by a
 * clock that nobody can set.  But run ids begin with it, and lists are in the order of ids, so a
 * jump is told and counted, and a small step back, also over a restart, does not bring new runs
 * before old ones.
 */
#pragma once

#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/record/recorder.h"
#include "proto/ulid.h"
#include "proto/value.h"

#define WALLCLOCK_BACK_MS ((uint64_t)24 * 3600 * 1000) /* ids wait for the clock so long */

struct wallclock {
	struct timer *timer;
	int64_t ahead_us; /* the wall clock's lead on the other one, at the last look */
	uint64_t jumps;
	int64_t last_jump_ms; /* + forwards, - back */
	int64_t believed_us; /* the lead that is sure; that of the clock when it has stood for a day */
	int64_t calm_since_us;     /* by the other clock: it has not jumped since */
	int64_t set_ahead_us;      /* how far it was set ahead since it was believed last */
	struct recorder *recorder; /* told at each look, for the store's mark; or NULL */
};

/*
 * Starts to watch.  `before` is what the clock was worth when the last daemon wrote it down.  When the
 * clock has moved since by no more than a day, that is time that has passed; by more, it is not, and the
 * clock has to stand for a day before it is believed.  Where nothing was written down no time has surely
 * come until then: a first look takes nothing away.  The recorder may be NULL.  When the newest record is later than now by no more than WALLCLOCK_BACK_MS,
 * ids go on from there; what is further ahead was a clock that was wrong, and is left alone.
 */
void wallclock_start(struct wallclock *wallclock, uv_loop_t *loop, struct recorder *recorder,
	const struct store_clock *before, uint64_t newest_ms, struct ulid_source *ids);
void wallclock_stop(struct wallclock *wallclock);

/* As wallclock_start(), without the watching: what is believed of a clock that shows this. */
void wallclock_recall(struct wallclock *wallclock, const struct store_clock *before,
	int64_t wall_us, int64_t steady_us);

/* Looks whether it has jumped since the last look; the timer does, every second. */
void wallclock_look(struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/*
 * The latest moment that has surely come: now, but a clock that was set ahead is not believed until it
 * has stood so for a day.  For what cannot be taken back.
 */
int64_t wallclock_surely_us(const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/* What the next daemon is to know of it. */
struct store_clock wallclock_worth(
	const struct wallclock *wallclock, int64_t wall_us, int64_t steady_us);

/* {jumps, last_jump_ms, doubted_ms}: by how much it was set ahead, until that is believed. */
struct value *wallclock_describe(const struct wallclock *wallclock, struct arena *arena);
