#include "cli/base/times.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/units.h"
#include "proto/base/container.h"

#define SECOND_US INT64_C(1000000)
#define DAY_S     INT64_C(86400)
#define AGO_DAYS  100

/* Midnight of the local day `days_back` days before the one that holds `now_us`. */
static int64_t midnight_us(int64_t now_us, int days_back)
{
	time_t now = (time_t)(now_us / SECOND_US);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return now_us;
	tm.tm_hour = 0;
	tm.tm_min = 0;
	tm.tm_sec = 0;
	tm.tm_mday -= days_back;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * SECOND_US;
}

static bool parse_word(const char *text, int64_t now_us, int64_t *ret_us)
{
	if (strcmp(text, "now") == 0)
		*ret_us = now_us;
	else if (strcmp(text, "today") == 0)
		*ret_us = midnight_us(now_us, 0);
	else if (strcmp(text, "yesterday") == 0)
		*ret_us = midnight_us(now_us, 1);
	else
		return false;
	return true;
}

static bool parse_epoch(const char *text, int64_t *ret_us)
{
	uint64_t seconds = 0;

	if (text[0] != '@' || units_parse_count(text + 1, &seconds, NULL) < 0 ||
		seconds > 9000000000)
		return false;
	*ret_us = (int64_t)seconds * SECOND_US;
	return true;
}

/* "1h", "2d" ...: a number with a unit; a number alone says nothing about time. */
static bool parse_ago(const char *text, int64_t now_us, int64_t *ret_us)
{
	size_t len = strlen(text);
	uint64_t ms = 0;

	if (len == 0 || strchr("smhd", text[len - 1]) == NULL)
		return false;
	if (units_parse_ms(text, &ms, NULL) < 0 || ms > (uint64_t)INT64_MAX / 1000)
		return false;
	*ret_us = now_us - (int64_t)ms * 1000;
	return true;
}

/* Two digits as a number, or -1. */
static int two_digits(const char *text)
{
	if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1]))
		return -1;
	return (text[0] - '0') * 10 + (text[1] - '0');
}

/* Minutes east of UTC for "Z", "+02:00", "-0530"; false when it is none of them. */
static bool parse_zone(const char *text, int *ret_minutes)
{
	size_t len = strlen(text);
	const char *minute_text = text + (len == 6 && text[3] == ':' ? 4 : 3);
	int hours, minutes;

	if (len == 1 && (text[0] == 'Z' || text[0] == 'z')) {
		*ret_minutes = 0;
		return true;
	}
	if ((text[0] != '+' && text[0] != '-') || (size_t)(minute_text - text) + 2 != len)
		return false;
	hours = two_digits(text + 1);
	minutes = two_digits(minute_text);
	if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59)
		return false;
	*ret_minutes = (hours * 60 + minutes) * (text[0] == '-' ? -1 : 1);
	return true;
}

/* One of the forms, and the rest of the text.  Fields that a form does not name stay. */
static const char *match_date(const char *text, struct tm *tm)
{
	static const char *const forms[] = {
		"%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S",
		"%Y-%m-%d %H:%M",
		"%Y-%m-%d",
		"%H:%M:%S",
		"%H:%M",
	};

	for (size_t i = 0; i < COUNT_OF(forms); i++) {
		struct tm found = *tm;
		const char *rest = strptime(text, forms[i], &found);

		if (rest && (*rest == '\0' || strchr("Zz+-", *rest))) {
			*tm = found;
			return rest;
		}
	}
	return NULL;
}

/* strptime() takes 30 February, and mktime() makes 2 March of it. */
static bool is_in_the_calendar(const struct tm *given)
{
	struct tm tm = *given;

	return timegm(&tm) != -1 && tm.tm_mday == given->tm_mday && tm.tm_mon == given->tm_mon;
}

static bool parse_date(const char *text, int64_t now_us, int64_t *ret_us)
{
	time_t midnight = (time_t)(midnight_us(now_us, 0) / SECOND_US);
	struct tm tm;
	const char *zone;
	int minutes = 0;

	if (!localtime_r(&midnight, &tm))
		return false;
	zone = match_date(text, &tm);
	if (!zone || !is_in_the_calendar(&tm))
		return false;
	if (*zone == '\0') {
		tm.tm_isdst = -1;
		*ret_us = (int64_t)mktime(&tm) * SECOND_US;
		return true;
	}
	if (!parse_zone(zone, &minutes))
		return false;
	*ret_us = ((int64_t)timegm(&tm) - (int64_t)minutes * 60) * SECOND_US;
	return true;
}

int times_parse(const char *text, int64_t now_us, int64_t *ret_us, struct err *err)
{
	if (parse_word(text, now_us, ret_us) || parse_epoch(text, ret_us) ||
		parse_ago(text, now_us, ret_us) || parse_date(text, now_us, ret_us))
		return 0;
	return err_set(err, ERR_INVALID,
		"\"%s\" is not a time such as 1h, yesterday, 10:30 or 2026-11-20T10:30", text);
}

static void print_seconds(char ret_text[TIMES_TEXT_MAX], int64_t seconds)
{
	cut_printf(ret_text, TIMES_TEXT_MAX, "@%" PRId64, seconds);
}

void times_print(char ret_text[TIMES_TEXT_MAX], int64_t wall_us)
{
	time_t seconds = (time_t)(wall_us / SECOND_US);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
		strftime(ret_text, TIMES_TEXT_MAX, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		print_seconds(ret_text, seconds);
}

void times_print_exact(char ret_text[TIMES_TEXT_MAX], int64_t wall_us)
{
	time_t seconds = (time_t)(wall_us / SECOND_US);
	char front[TIMES_TEXT_MAX];
	char zone[TIMES_TEXT_MAX];
	struct tm tm;

	times_print(front, wall_us);
	if (!localtime_r(&seconds, &tm) || strftime(zone, sizeof(zone), "%z", &tm) == 0)
		zone[0] = '\0';
	cut_printf(ret_text, TIMES_TEXT_MAX, "%s.%03d %s", front, (int)(wall_us % SECOND_US / 1000),
		zone);
}

void times_print_ago(char ret_text[TIMES_TEXT_MAX], int64_t wall_us, int64_t now_us)
{
	int64_t ago_s = (now_us - wall_us) / SECOND_US;

	if (ago_s < 0 || ago_s >= AGO_DAYS * DAY_S)
		times_print(ret_text, wall_us);
	else if (ago_s < 2)
		cut_printf(ret_text, TIMES_TEXT_MAX, "just now");
	else if (ago_s < 120)
		cut_printf(ret_text, TIMES_TEXT_MAX, "%" PRId64 " s ago", ago_s);
	else if (ago_s < 7200)
		cut_printf(ret_text, TIMES_TEXT_MAX, "%" PRId64 " min ago", ago_s / 60);
	else if (ago_s < 2 * DAY_S)
		cut_printf(ret_text, TIMES_TEXT_MAX, "%" PRId64 " h ago", ago_s / 3600);
	else
		cut_printf(ret_text, TIMES_TEXT_MAX, "%" PRId64 " d ago", ago_s / DAY_S);
}
