#include <stdlib.h>
#include <time.h>

#include "cli/base/times.h"
#include "tests/check.h"

#define SECOND INT64_C(1000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
#define NOW    (INT64_C(1795170615) * SECOND) /* 2026-11-20 10:30:15 UTC */
#define TODAY  (INT64_C(1795132800) * SECOND)

static void in_zone(const char *zone)
{
	(void)setenv("TZ", zone, 1);
	tzset();
}

static int64_t parse(const char *text)
{
	int64_t us = -1;

	return times_parse(text, NOW, &us, NULL) < 0 ? -1 : us;
}

TEST(so_long_ago_is_counted_back_from_now)
{
	in_zone("UTC0");
	CHECK_EQ_INT(parse("now"), NOW);
	CHECK_EQ_INT(parse("30s"), NOW - 30 * SECOND);
	CHECK_EQ_INT(parse("1h"), NOW - HOUR);
	CHECK_EQ_INT(parse("2d"), NOW - 2 * DAY);
	CHECK_EQ_INT(parse("1.5h"), NOW - HOUR * 3 / 2);
}

TEST(days_begin_at_midnight_of_the_local_calendar)
{
	in_zone("UTC0");
	CHECK_EQ_INT(parse("today"), TODAY);
	CHECK_EQ_INT(parse("yesterday"), TODAY - DAY);
	in_zone("XXX-2");
	CHECK_EQ_INT(parse("today"), TODAY - 2 * HOUR);
	in_zone("UTC0");
}

TEST(a_clock_time_alone_is_today)
{
	in_zone("UTC0");
	CHECK_EQ_INT(parse("10:30"), TODAY + 10 * HOUR + 30 * 60 * SECOND);
	CHECK_EQ_INT(parse("10:30:15"), NOW);
}

TEST(dates_are_read_in_local_time_or_in_the_zone_they_name)
{
	in_zone("XXX-2");
	CHECK_EQ_INT(parse("2026-11-20"), TODAY - 2 * HOUR);
	CHECK_EQ_INT(parse("2026-11-20T12:30:15"), NOW);
	CHECK_EQ_INT(parse("2026-11-20 12:30:15"), NOW);
	CHECK_EQ_INT(parse("2026-11-20T10:30:15Z"), NOW);
	CHECK_EQ_INT(parse("2026-11-20T11:30:15+01:00"), NOW);
	CHECK_EQ_INT(parse("2026-11-20T05:00:15-0530"), NOW);
	in_zone("UTC0");
}

TEST(seconds_since_1970_are_written_with_an_at_sign)
{
	CHECK_EQ_INT(parse("@1795170615"), NOW);
}

TEST(what_is_no_time_is_refused)
{
	static const char *const wrong[] = { "", "soon", "1", "2026", "2026-13-01", "25:00",
		"2026-11-20T10:30+", "2026-11-20T10:30+99:00", "@", "@x", "-1h", "1y",
		"2026-11-20X" };

	in_zone("UTC0");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_EQ_INT(parse(wrong[i]), -1);
}

TEST(moments_are_printed_with_their_zone)
{
	char text[TIMES_TEXT_MAX];

	in_zone("XXX-2");
	times_print_exact(text, NOW + 42000);
	CHECK_STR(text, "2026-11-20 12:30:15.042 +0200");
	times_print(text, NOW);
	CHECK_STR(text, "2026-11-20 12:30:15");
	in_zone("UTC0");
}

TEST(what_was_recent_is_printed_as_so_long_ago)
{
	char text[TIMES_TEXT_MAX];

	in_zone("UTC0");
	times_print_ago(text, NOW - SECOND, NOW);
	CHECK_STR(text, "just now");
	times_print_ago(text, NOW - 45 * SECOND, NOW);
	CHECK_STR(text, "45 s ago");
	times_print_ago(text, NOW - 5 * HOUR, NOW);
	CHECK_STR(text, "5 h ago");
	times_print_ago(text, NOW - 3 * DAY, NOW);
	CHECK_STR(text, "3 d ago");
	times_print_ago(text, NOW - 100 * DAY, NOW);
	CHECK_STR(text, "2026-08-12 10:30:15");
	times_print_ago(text, NOW + HOUR, NOW);
	CHECK_STR(text, "2026-11-20 11:30:15");
}
