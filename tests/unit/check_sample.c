/* Tests that do not hold, on purpose; read by check_reports.t and never run for themselves. */

#include "tests/check.h"

TEST(holds)
{
	CHECK(true);
}

TEST(integers_differ)
{
	CHECK_EQ_INT(1 + 1, 3);
}

TEST(texts_differ)
{
	CHECK_STR("in", NULL);
}

TEST(cannot_run)
{
	SKIP("no moon");
}

static void helper(void)
{
	CHECK(1 > 2);
}

TEST(a_helper_fails)
{
	helper();
	CHECK(!check_ok());
}
