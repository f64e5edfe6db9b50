#include <stdlib.h>

#include "store/read/timeline.h"
#include "tests/check.h"

#define SECOND INT64_C(1000000)

static struct timeline *empty(void)
{
	return calloc(1, sizeof(struct timeline));
}

static uint64_t all_runs(const struct timeline *timeline)
{
	uint64_t runs = 0;

	for (size_t i = 0; i < timeline->count; i++)
		runs += timeline->slots[i].runs;
	return runs;
}

TEST(what_is_near_has_slots_of_a_second)
{
	struct timeline *timeline = empty();

	CHECK(timeline);
	for (int64_t i = 0; i < TIMELINE_SLOTS; i++)
		timeline_add(timeline, (1000000 - i) * SECOND + 7, 100 + i, i % 2 == 0);
	CHECK_EQ_INT(timeline->width_us, SECOND);
	CHECK_EQ_INT(timeline->count, TIMELINE_SLOTS);
	CHECK_EQ_INT(timeline_from_us(timeline, 0), 1000000 * SECOND);
	CHECK_EQ_INT(timeline_from_us(timeline, 59), (1000000 - 59) * SECOND);
	for (size_t i = 0; i < TIMELINE_SLOTS; i++) {
		CHECK_EQ_INT(timeline->slots[i].runs, 1);
		CHECK_EQ_INT(timeline->slots[i].ok, i % 2 == 0);
		CHECK_EQ_INT(histogram_at(&timeline->slots[i].total_us, 50), 100 + (int64_t)i);
	}
	free(timeline);
}

TEST(what_is_far_has_wider_ones_and_nothing_is_lost)
{
	struct timeline *timeline = empty();
	int64_t at_us = INT64_C(1700000000) * SECOND;

	CHECK(timeline);
	for (int64_t i = 0; i < 10000; i++, at_us -= i * SECOND / 10)
		timeline_add(timeline, at_us, i, true);
	CHECK_EQ_INT(all_runs(timeline), 10000);
	CHECK(timeline->count > TIMELINE_SLOTS / 2 && timeline->count <= TIMELINE_SLOTS);
	CHECK(timeline_from_us(timeline, 0) <= INT64_C(1700000000) * SECOND);
	CHECK(timeline_from_us(timeline, timeline->count - 1) <= at_us + 1000 * SECOND);
	CHECK(timeline->slots[0].runs > timeline->slots[timeline->count - 2].runs);
	free(timeline);
}

TEST(odd_times_fall_into_the_ends)
{
	struct timeline *timeline = empty();

	CHECK(timeline);
	timeline_add(timeline, INT64_MAX, INT64_MAX, true);
	timeline_add(timeline, INT64_MIN, -1, false);
	timeline_add(timeline, 0, 0, false);
	timeline_add(timeline, INT64_MAX, 1, true);
	CHECK_EQ_INT(all_runs(timeline), 4);
	CHECK_EQ_INT(timeline->slots[0].runs, 2);
	free(timeline);
}
