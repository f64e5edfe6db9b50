/*
 * Counts amounts spent within a sliding window of time.  The window is divided into slices; with
 * the oldest slice, the amounts in it leave the window.
 */
#pragma once

#include <stdint.h>

#define SPENDING_SLICES 12

enum spent_kind {
	SPENT_RUNS,
	SPENT_CPU_US,
	SPENT_WALL_US,
	SPENT_BYTES,
	SPENT_COUNT,
};

struct spending {
	int64_t slice_us;
	int64_t at; /* number of the newest slice, counted from the start of the clock */
	uint64_t slices[SPENDING_SLICES][SPENT_COUNT];
	uint64_t sum[SPENT_COUNT];
};

void spending_init(struct spending *spending, int64_t window_us, int64_t now_us);

/* Drops slices that have left the window. */
void spending_move_on(struct spending *spending, int64_t now_us);

/* Adds an amount that was spent `age_us` ago; ignores it when that is outside the window. */
void spending_add(struct spending *spending, enum spent_kind kind, uint64_t amount, int64_t age_us);

/* Returns how long it takes until less than `most` is in the window. */
int64_t spending_until_below(
	const struct spending *spending, enum spent_kind kind, uint64_t most, int64_t now_us);

/* Resets all amounts to zero. */
void spending_forget(struct spending *spending);
