/*
 * What was spent within a window of time, in slices: with the oldest slice what was spent in it leaves.
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
	int64_t at; /* the newest slice, in a count of slices since the clock began */
	uint64_t slices[SPENDING_SLICES][SPENT_COUNT];
	uint64_t sum[SPENT_COUNT];
};

void spending_init(struct spending *spending, int64_t window_us, int64_t now_us);

/* Leaves behind what is older than the window. */
void spending_move_on(struct spending *spending, int64_t now_us);

/* What was spent so long ago; before the window it says nothing. */
void spending_add(struct spending *spending, enum spent_kind kind, uint64_t amount, int64_t age_us);

/* How long until less than `most` is in the window. */
int64_t spending_until_below(
	const struct spending *spending, enum spent_kind kind, uint64_t most, int64_t now_us);

/* As if nothing had been spent. */
void spending_forget(struct spending *spending);
