#include <stdlib.h>

#include "store/read/histogram.h"
#include "tests/check.h"

static struct histogram spread;

static void restart(void)
{
	spread = (struct histogram){ 0 };
}

TEST(small_numbers_are_exact)
{
	restart();
	for (int64_t i = 1; i <= 200; i++)
		histogram_add(&spread, i);
	CHECK_EQ_INT(histogram_at(&spread, 50), 100);
	CHECK_EQ_INT(histogram_at(&spread, 90), 180);
	CHECK_EQ_INT(histogram_at(&spread, 99), 198);
	CHECK_EQ_INT(histogram_at(&spread, 100), 200);
	CHECK_EQ_INT(histogram_at(&spread, 0), 1);
}

TEST(large_numbers_are_never_too_low_and_hardly_too_high)
{
	for (int64_t number = 1; number < (int64_t)1 << 40; number += 1 + number / 7) {
		restart();
		histogram_add(&spread, number);
		CHECK(histogram_at(&spread, 50) >= number);
		CHECK(histogram_at(&spread, 50) <= number + number / 120);
	}
}

TEST(numbers_out_of_range_are_counted_at_the_ends)
{
	restart();
	histogram_add(&spread, -5);
	CHECK_EQ_INT(histogram_at(&spread, 50), 0);
	histogram_add(&spread, INT64_MAX);
	CHECK(histogram_at(&spread, 100) >= (int64_t)1 << 40);
	CHECK_EQ_INT(spread.count, 2);
}

TEST(no_numbers_have_the_percentile_zero)
{
	restart();
	CHECK_EQ_INT(histogram_at(&spread, 50), 0);
}
