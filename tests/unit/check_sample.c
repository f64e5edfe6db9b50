/*
 * Tests that fail on purpose.  check_reports.t runs them and reads their output; ctest does not
 * run them.
 */

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
