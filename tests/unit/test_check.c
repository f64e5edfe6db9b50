/*
 * Tests of the harness itself, and an example to copy.  check_reports.t checks the output of
 * failed checks: it runs check_sample.c and reads what it prints.
 */

#include "tests/check.h"

TEST(equal_integers_of_different_kinds_are_equal)
{
	CHECK_EQ_INT((unsigned char)200, 200L);
	CHECK_EQ_INT(-1, (signed char)-1);
}

TEST(equal_texts_are_equal_wherever_they_lie)
{
	char text[] = "jail";

	CHECK_STR(text, "jail");
	CHECK_STR(NULL, NULL);
}

TEST(a_test_knows_its_own_name)
{
	CHECK_STR(check_title(), "a_test_knows_its_own_name");
	CHECK(check_ok());
}
