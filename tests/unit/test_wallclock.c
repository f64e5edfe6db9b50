#include <string.h>

#include "daemon/record/wallclock.h"
#include "proto/base/clock.h"
#include "tests/check.h"

#define DAY_US (INT64_C(86400) * 1000000)

TEST(a_clock_that_goes_on_has_not_jumped)
{
	struct wallclock wallclock = { .ahead_us = 5 * DAY_US };

	for (int64_t second = 1; second < 1000; second++) /* slewed by 500 ppm */
		wallclock_look(&wallclock, 5 * DAY_US + second * 1000500, second * 1000000);
	CHECK_EQ_INT(wallclock.jumps, 0);
}

TEST(jumps_in_both_directions_are_counted_with_their_length)
{
	struct wallclock wallclock = { .ahead_us = 0 };

	wallclock_look(&wallclock, DAY_US, 1000000);
	CHECK_EQ_INT(wallclock.jumps, 1);
	CHECK_EQ_INT(wallclock.last_jump_ms, 86400000 - 1000);
	wallclock_look(&wallclock, DAY_US + 1000000, 2000000);
	CHECK_EQ_INT(wallclock.jumps, 1);
	wallclock_look(&wallclock, -DAY_US, 3000000);
	CHECK_EQ_INT(wallclock.jumps, 2);
	CHECK(wallclock.last_jump_ms < -2 * 86400000);
}

/* A mistyped year must not make retention delete old records. */
TEST(a_clock_that_was_set_ahead_is_not_believed_for_a_day)
{
	struct wallclock wallclock = { .ahead_us = 0 };
	int64_t steady_us = 1000000;

	CHECK_EQ_INT(wallclock_surely_us(&wallclock, 900000, steady_us), 900000);
	wallclock_look(&wallclock, steady_us + 400 * DAY_US, steady_us);
	CHECK_EQ_INT(
		wallclock_surely_us(&wallclock, steady_us + 400 * DAY_US, steady_us), steady_us);
	for (; steady_us < DAY_US / 2; steady_us += 60000000)
		wallclock_look(&wallclock, steady_us + 400 * DAY_US, steady_us);
	CHECK_EQ_INT(
		wallclock_surely_us(&wallclock, steady_us + 400 * DAY_US, steady_us), steady_us);
	for (; steady_us < DAY_US + 120000000; steady_us += 60000000)
		wallclock_look(&wallclock, steady_us + 400 * DAY_US, steady_us);
	CHECK_EQ_INT(wallclock_surely_us(&wallclock, steady_us + 400 * DAY_US, steady_us),
		steady_us + 400 * DAY_US);
}

TEST(a_clock_that_was_set_back_is_believed_at_once)
{
	struct wallclock wallclock = { .ahead_us = 0 };

	wallclock_look(&wallclock, -DAY_US, 1000000);
	CHECK_EQ_INT(wallclock_surely_us(&wallclock, -DAY_US, 1000000), -DAY_US);
}

static void start_and_stop(uint64_t newest_ms, struct ulid_source *ids)
{
	struct wallclock wallclock;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	wallclock_start(&wallclock, &loop, NULL, &(struct store_clock){ 0 }, newest_ms, ids);
	wallclock_stop(&wallclock);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}

TEST(after_a_small_step_back_ids_go_on_from_the_newest_record)
{
	uint64_t hour_ahead = (uint64_t)clock_wall_us() / 1000 + 3600000;
	struct ulid_source ids = { 0 };
	char id[ULID_LEN + 1];

	start_and_stop(hour_ahead, &ids);
	CHECK_EQ_INT(ulid_next(&ids, id, NULL), 0);
	CHECK(ulid_time_ms(id) >= hour_ahead);
}

TEST(a_record_from_a_clock_that_was_far_ahead_does_not_hold_ids_there)
{
	uint64_t now_ms = (uint64_t)clock_wall_us() / 1000;
	struct ulid_source ids = { 0 };
	char id[ULID_LEN + 1];

	start_and_stop(now_ms + 365 * UINT64_C(86400000), &ids);
	CHECK_EQ_INT(ulid_next(&ids, id, NULL), 0);
	CHECK(ulid_time_ms(id) < now_ms + 60000);
}

TEST(records_of_the_past_change_nothing)
{
	struct ulid_source ids = { 0 };

	start_and_stop(1000, &ids);
	CHECK_EQ_INT(ids.last_ms, 0);
	start_and_stop(0, &ids);
	CHECK_EQ_INT(ids.last_ms, 0);
}

/* ---- over a restart ------------------------------------------------------------------------- */

#define NOW_US (20000 * DAY_US)

static int64_t surely_after(const struct store_clock *before, int64_t wall_us)
{
	struct wallclock wallclock = { .ahead_us = 0 };

	wallclock_recall(&wallclock, before, wall_us, 7000000);
	return wallclock_surely_us(&wallclock, wall_us, 7000000);
}

TEST(where_nothing_is_known_no_time_has_surely_come)
{
	CHECK_EQ_INT(surely_after(&(struct store_clock){ 0 }, NOW_US), 0);
}

TEST(a_rest_of_a_day_between_two_daemons_has_surely_passed)
{
	const struct store_clock before = { NOW_US, NOW_US, 0, 0 };

	CHECK_EQ_INT(surely_after(&before, NOW_US + 1000), NOW_US + 1000);
	CHECK_EQ_INT(surely_after(&before, NOW_US + DAY_US), NOW_US + DAY_US);
	CHECK_EQ_INT(surely_after(&before, NOW_US + DAY_US + 1), NOW_US);
	CHECK_EQ_INT(surely_after(&before, NOW_US - 1000), NOW_US - 1000);
}

TEST(a_clock_that_is_ahead_at_the_start_is_not_believed_however_often_it_starts)
{
	struct store_clock known = { NOW_US, NOW_US, 30 * DAY_US, 0 };
	int64_t wall_us = NOW_US + 365 * DAY_US;

	for (unsigned start = 0; start < 20; start++) {
		struct wallclock wallclock = { .ahead_us = 0 };

		wallclock_recall(&wallclock, &known, wall_us, 5000000);
		wallclock_look(&wallclock, wall_us + 1000000, 6000000);
		wall_us += 1000000;
		known = wallclock_worth(&wallclock, wall_us, 6000000);
	}
	CHECK_EQ_INT(known.surely_us, NOW_US + 20 * 1000000);
	CHECK_EQ_INT(known.ahead_us, 365 * DAY_US);
}

TEST(a_clock_that_has_stood_for_a_day_over_restarts_is_believed)
{
	struct store_clock known = { 0 };
	int64_t wall_us = NOW_US;

	for (unsigned start = 0; start < 26; start++) {
		struct wallclock wallclock = { .ahead_us = 0 };

		wallclock_recall(&wallclock, &known, wall_us, 5000000);
		for (int64_t second = 1; second <= 1800; second++)
			wallclock_look(
				&wallclock, wall_us + second * 1000000, 5000000 + second * 1000000);
		known = wallclock_worth(&wallclock, wall_us + 1800 * INT64_C(1000000),
			5000000 + 1800 * INT64_C(1000000));
		CHECK(start >= 24 || known.surely_us < DAY_US);
		wall_us += 3600 * INT64_C(1000000);
	}
	CHECK_EQ_INT(known.surely_us, known.wall_us);
}
