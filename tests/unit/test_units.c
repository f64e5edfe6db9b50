#include "cli/base/units.h"
#include "tests/check.h"

static int64_t bytes(const char *text)
{
	uint64_t number = 0;

	return units_parse_bytes(text, &number, NULL) < 0 ? -1 : (int64_t)number;
}

static int64_t ms(const char *text)
{
	uint64_t number = 0;

	return units_parse_ms(text, &number, NULL) < 0 ? -1 : (int64_t)number;
}

TEST(sizes_are_powers_of_1024)
{
	CHECK_EQ_INT(bytes("0"), 0);
	CHECK_EQ_INT(bytes("4096"), 4096);
	CHECK_EQ_INT(bytes("64M"), 64 << 20);
	CHECK_EQ_INT(bytes("64MiB"), 64 << 20);
	CHECK_EQ_INT(bytes("512k"), 512 << 10);
	CHECK_EQ_INT(bytes("1.5G"), INT64_C(3) << 29);
}

TEST(times_without_a_unit_count_milliseconds)
{
	CHECK_EQ_INT(ms("1500ms"), 1500);
	CHECK_EQ_INT(ms("2s"), 2000);
	CHECK_EQ_INT(ms("500ms"), 500);
	CHECK_EQ_INT(ms("1.5m"), 90000);
	CHECK_EQ_INT(ms("1h"), 3600000);
}

TEST(what_is_no_number_with_a_known_unit_is_refused)
{
	static const char *const wrong[] = { "", "M", "-1", "+1", "1e3", "0x10", "nan", "inf",
		"1 M", "1..5", "64Q", "99999999999999999999", " 1" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_EQ_INT(bytes(wrong[i]), -1);
		CHECK_EQ_INT(ms(wrong[i]), -1);
	}
}

TEST(a_time_without_a_unit_is_asked_what_it_means)
{
	struct err err = ERR_INIT;
	uint64_t number = 0;

	CHECK_EQ_INT(units_parse_ms("10", &number, &err), -1);
	CHECK_STR(err.text, "\"10\" has no unit: write 10ms, 10s or 10m");
}

TEST(a_refusal_names_the_text_and_what_was_wanted)
{
	struct err err = ERR_INIT;
	uint64_t number = 0;

	CHECK_EQ_INT(units_parse_bytes("many", &number, &err), -1);
	CHECK_STR(err.text, "\"many\" is not a size such as 4096, 512K or 64M");
}

TEST(sizes_are_printed_short)
{
	char text[UNITS_TEXT_MAX];

	units_print_bytes(text, 17);
	CHECK_STR(text, "17 B");
	units_print_bytes(text, 1536);
	CHECK_STR(text, "1.5 KiB");
	units_print_bytes(text, 64 << 20);
	CHECK_STR(text, "64 MiB");
	units_print_bytes(text, 250 << 20);
	CHECK_STR(text, "250 MiB");
}

TEST(times_are_printed_in_the_unit_that_reads_best)
{
	char text[UNITS_TEXT_MAX];

	units_print_us(text, 340);
	CHECK_STR(text, "340 us");
	units_print_us(text, 1240);
	CHECK_STR(text, "1.24 ms");
	units_print_us(text, 41700);
	CHECK_STR(text, "41.7 ms");
	units_print_us(text, 337200);
	CHECK_STR(text, "337 ms");
	units_print_us(text, 2500000);
	CHECK_STR(text, "2.50 s");
	units_print_us(text, INT64_C(200) * 1000000);
	CHECK_STR(text, "3 min 20 s");
	units_print_us(text, INT64_C(7500) * 1000000);
	CHECK_STR(text, "2 h 05 min");
}

TEST(counts_are_printed_in_groups_of_three)
{
	char text[UNITS_TEXT_MAX];

	units_print_count(text, 0);
	CHECK_STR(text, "0");
	units_print_count(text, 999);
	CHECK_STR(text, "999");
	units_print_count(text, 65536);
	CHECK_STR(text, "65,536");
	units_print_count(text, 12345678);
	CHECK_STR(text, "12,345,678");
	units_print_count(text, -123456);
	CHECK_STR(text, "-123,456");
}
