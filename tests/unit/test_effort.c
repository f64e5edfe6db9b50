#include <time.h>

#include "daemon/inspector/effort.h"
#include "proto/base/clock.h"
#include "proto/internal/inspectmsg.h"
#include "tests/check.h"

static void rest(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&time, NULL);
}

static void work(int64_t us)
{
	int64_t end_us = clock_us_of(CLOCK_PROCESS_CPUTIME_ID) + us;

	while (clock_us_of(CLOCK_PROCESS_CPUTIME_ID) < end_us)
		;
}

TEST(time_that_others_had_the_processor_is_not_spent)
{
	struct effort effort;

	effort_begin(&effort, 1000, 200000, NULL, NULL);
	rest(500);
	CHECK(!effort_is_spent(&effort));
	work(250000);
	CHECK(effort_is_spent(&effort));
	CHECK(effort_is_spent(&effort));
}

TEST(the_same_number_of_looks_is_spent_at_the_same_place)
{
	struct effort effort;

	for (int pause = 0; pause < 2; pause++) {
		effort_begin(&effort, 5, 60000000, NULL, NULL);
		for (int i = 0; i < 5; i++) {
			CHECK(!effort_is_spent(&effort));
			rest(pause * 10);
		}
		CHECK(effort_is_spent(&effort));
	}
}

static void count(void *context)
{
	++*(unsigned *)context;
}

TEST(work_is_reported_by_cpu_time_and_rest_is_not)
{
	struct effort effort;
	unsigned beats = 0;

	effort_begin(&effort, 1000, 60000000, count, &beats);
	rest(3 * INSPECT_BEAT_US / 1000);
	CHECK(!effort_is_spent(&effort));
	CHECK_EQ_INT(beats, 0);
	for (int i = 1; i <= 3; i++) {
		work(INSPECT_BEAT_US + 5000);
		CHECK(!effort_is_spent(&effort));
		CHECK_EQ_INT(beats, i);
	}
}
