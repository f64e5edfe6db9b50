#include <math.h>
#include <stdint.h>
#include <string.h>

#include "proto/number.h"
#include "tests/check.h"

#define INT(n)  ((struct value){ .type = VALUE_INT, .integer = (n) })
#define UINT(n) ((struct value){ .type = VALUE_UINT, .uinteger = (n) })
#define REAL(r) ((struct value){ .type = VALUE_REAL, .real = (r) })

static int compare(struct value a, struct value b)
{
	return number_compare(&a, &b);
}

static bool divides(struct value value, struct value step)
{
	return number_is_multiple(&value, &step);
}

TEST(numbers_are_integers_and_finite_reals)
{
	CHECK(number_is(&INT(0)));
	CHECK(number_is(&UINT(UINT64_MAX)));
	CHECK(number_is(&REAL(0.5)));
	CHECK(!number_is(&REAL((double)NAN)));
	CHECK(!number_is(&REAL((double)INFINITY)));
	CHECK(!number_is(&((struct value){ .type = VALUE_TEXT })));
	CHECK(!number_is(NULL));
}

TEST(integers_are_numbers_without_a_fraction)
{
	CHECK(number_is_integer(&INT(-1)));
	CHECK(number_is_integer(&REAL(3.0)));
	CHECK(number_is_integer(&REAL(1e300)));
	CHECK(!number_is_integer(&REAL(3.5)));
	CHECK(!number_is_integer(&REAL((double)-INFINITY)));
}

TEST(integers_of_both_kinds_stand_on_one_line)
{
	CHECK_EQ_INT(compare(INT(1), INT(2)), -1);
	CHECK_EQ_INT(compare(INT(INT64_MAX), UINT((uint64_t)INT64_MAX + 1)), -1);
	CHECK_EQ_INT(compare(UINT(UINT64_MAX), INT(-1)), 1);
	CHECK_EQ_INT(compare(UINT(UINT64_MAX), UINT(UINT64_MAX)), 0);
	CHECK_EQ_INT(compare(INT(INT64_MIN), INT(INT64_MIN)), 0);
}

TEST(integers_and_reals_are_compared_without_rounding)
{
	CHECK_EQ_INT(compare(INT(9007199254740993), REAL(9007199254740992.0)), 1);
	CHECK_EQ_INT(compare(REAL(9007199254740992.0), INT(9007199254740993)), -1);
	CHECK_EQ_INT(compare(INT(INT64_MAX), REAL(0x1p63)), -1);
	CHECK_EQ_INT(compare(INT(INT64_MIN), REAL(-0x1p63)), 0);
	CHECK_EQ_INT(compare(UINT(UINT64_MAX), REAL(0x1p64)), -1);
	CHECK_EQ_INT(compare(UINT((uint64_t)1 << 63), REAL(0x1p63)), 0);
	CHECK_EQ_INT(compare(UINT((uint64_t)1 << 63), REAL(-1.0)), 1);
	CHECK_EQ_INT(compare(INT(3), REAL(3.5)), -1);
	CHECK_EQ_INT(compare(INT(-3), REAL(-3.5)), 1);
	CHECK_EQ_INT(compare(INT(-3), REAL(-1e300)), 1);
	CHECK_EQ_INT(compare(REAL(0.1), REAL(0.2)), -1);
	CHECK_EQ_INT(compare(REAL(-0.0), INT(0)), 0);
}

TEST(multiples_are_those_of_decimals)
{
	CHECK(divides(REAL(0.0075), REAL(0.0001)));
	CHECK(!divides(REAL(0.00751), REAL(0.0001)));
	CHECK(divides(REAL(0.3), REAL(0.1)));
	CHECK(divides(REAL(1e22), INT(10)));
	CHECK(divides(INT(-12), REAL(1.5)));
	CHECK(!divides(INT(1), INT(10)));
	CHECK(divides(INT(0), REAL(1e-300)));
	CHECK(!divides(REAL(1e-300), INT(1)));
	CHECK(divides(REAL(1.7976931348623157e308), REAL(5e-324)));
	CHECK(!divides(REAL(5e-324), REAL(1.7976931348623157e308)));
}

TEST(multiples_of_large_integers_are_exact)
{
	CHECK(divides(UINT(UINT64_MAX), INT(5)));
	CHECK(!divides(UINT(UINT64_MAX), INT(2)));
	CHECK(divides(UINT(UINT64_MAX), UINT(UINT64_MAX)));
	CHECK(!divides(UINT(UINT64_MAX - 1), UINT(UINT64_MAX)));
	CHECK(divides(INT(INT64_MIN), INT(2)));
	CHECK(!divides(UINT(UINT64_MAX), REAL(1e19)));
	CHECK(divides(UINT(10000000000000000000U), REAL(1e19)));
}

TEST(a_number_becomes_unsigned_only_when_it_is)
{
	uint64_t number = 7;

	CHECK_EQ_INT(number_as_u64(&INT(3), &number), 0);
	CHECK_EQ_INT(number, 3);
	CHECK_EQ_INT(number_as_u64(&REAL(4.0), &number), 0);
	CHECK_EQ_INT(number, 4);
	CHECK_EQ_INT(number_as_u64(&UINT(UINT64_MAX), &number), 0);
	CHECK(number == UINT64_MAX);
	CHECK_EQ_INT(number_as_u64(&INT(-1), &number), -1);
	CHECK_EQ_INT(number_as_u64(&REAL(0.5), &number), -1);
	CHECK_EQ_INT(number_as_u64(&REAL(-4.0), &number), -1);
	CHECK_EQ_INT(number_as_u64(&REAL(0x1p64), &number), -1);
	CHECK_EQ_INT(number_as_u64(NULL, &number), -1);
	CHECK(number == UINT64_MAX);
}

TEST(a_real_is_written_as_short_as_it_reads_back)
{
	char text[NUMBER_TEXT_MAX];

	CHECK_EQ_INT(number_write_real(0.1, text), 3);
	CHECK_STR(text, "0.1");
	CHECK_EQ_INT(number_write_real(3, text), 3);
	CHECK_STR(text, "3.0");
	(void)number_write_real(0.1 + 0.2, text);
	CHECK_STR(text, "0.30000000000000004");
	(void)number_write_real(-2.2250738585072014e-308, text);
	CHECK_STR(text, "-2.2250738585072014e-308");
	(void)number_write_real(-123456789012345680.0, text);
	CHECK_STR(text, "-1.2345678901234568e+17");
}
