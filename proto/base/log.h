/*
 * One line per event on stderr: <level>program event key=value key="value with spaces".  On a
 * terminal a word such as "warning: " stands in place of <level>, which is for systemd.
 *
 * Values are quoted and escaped when they hold anything but plain printable characters, so a
 * client cannot forge a line or reach a terminal.  A line that can repeat under attack goes
 * through log_limited(), which says how many it swallowed.
 */
#pragma once

#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERROR = 3, /* numbers of syslog, as systemd reads them */
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* Program name in front of every line, and the least important level that is written. */
void log_start(const char *program, enum log_level least);

struct log_field {
	const char *key;
	const char *text; /* NULL: the number counts */
	int64_t number;
};

static inline const char *log_text_or_empty(const char *text)
{
	return text ? text : "";
}

#define LOG_STR(key, value) ((struct log_field){ (key), log_text_or_empty(value), 0 })
#define LOG_INT(key, value) ((struct log_field){ (key), NULL, (int64_t)(value) })

void log_event_fields(
	enum log_level level, const char *event, const struct log_field *fields, unsigned count);

/* The fields, if any, and one that is not counted: an empty list would be no C. */
#define LOG_FIELDS(...) ((const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ NULL, NULL, 0 } })
#define log_event(level, event, ...)                                \
	log_event_fields((level), (event), LOG_FIELDS(__VA_ARGS__), \
		sizeof(LOG_FIELDS(__VA_ARGS__)) / sizeof(struct log_field) - 1)

/* At most `per_minute` lines a minute for one place; the next line after a gap says swallowed=N. */
struct log_limit {
	int64_t window_start_ms;
	uint32_t written;
	uint32_t swallowed;
};

void log_limited(struct log_limit *limit, uint32_t per_minute, enum log_level level,
	const char *event, const struct log_field *fields, unsigned count);
