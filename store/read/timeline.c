#include "store/read/timeline.h"

#include <string.h>

#define WIDTH_LEAST_US INT64_C(1000000)

static void pour(struct timeline_slot *into, struct timeline_slot *from)
{
	into->runs += from->runs;
	into->ok += from->ok;
	histogram_merge(&into->total_us, &from->total_us);
	memset(from, 0, sizeof(*from));
}

/* Each slot becomes twice as wide; those that become one are poured together. */
static void widen(struct timeline *timeline)
{
	int64_t newest = timeline->newest / 2;
	size_t count = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		size_t to = (size_t)(newest - (timeline->newest - (int64_t)i) / 2);

		if (to != i)
			pour(&timeline->slots[to], &timeline->slots[i]);
		count = to + 1;
	}
	timeline->newest = newest;
	timeline->width_us *= 2;
	timeline->count = count;
}

void timeline_add(struct timeline *timeline, int64_t at_us, int64_t total_us, bool ok)
{
	struct timeline_slot *slot;
	size_t back;

	if (at_us < 0)
		at_us = 0;
	if (!timeline->width_us)
		timeline->width_us = WIDTH_LEAST_US;
	if (!timeline->count)
		timeline->newest = at_us / timeline->width_us;
	while (timeline->newest - at_us / timeline->width_us >= TIMELINE_SLOTS)
		widen(timeline);
	back = at_us / timeline->width_us < timeline->newest
		       ? (size_t)(timeline->newest - at_us / timeline->width_us)
		       : 0;
	if (back >= timeline->count)
		timeline->count = back + 1;
	slot = &timeline->slots[back];
	slot->runs++;
	slot->ok += ok;
	histogram_add(&slot->total_us, total_us);
}

int64_t timeline_from_us(const struct timeline *timeline, size_t slot)
{
	return (timeline->newest - (int64_t)slot) * timeline->width_us;
}
