/*
 * Counts over time, in one pass from the newest to the oldest, without knowing the span: at most
 * TIMELINE_SLOTS slots of equal width. The width doubles whenever the slots do not reach far
 * enough.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/read/histogram.h"

#define TIMELINE_SLOTS 60

struct timeline_slot {
	uint64_t runs, ok;
	struct histogram total_us;
};

struct timeline {
	int64_t width_us; /* of a slot; slots begin at multiples of it */
	int64_t newest;   /* number of the slot that is slots[0]; the others are older */
	size_t count;     /* slots from the newest to the oldest that something fell into */
	struct timeline_slot slots[TIMELINE_SLOTS];
};

/* All zeroes is an empty one.  Times before 1970, or after the first that came, count as that. */
void timeline_add(struct timeline *timeline, int64_t at_us, int64_t total_us, bool ok);

/* When a slot begins. */
int64_t timeline_from_us(const struct timeline *timeline, size_t slot);
