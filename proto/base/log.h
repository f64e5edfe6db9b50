/*
 * Writes one line per event to stderr: <level>program event key=value key="value with spaces".
 * <level> is for systemd.  On a terminal the line has a word such as "warning: " instead.
 *
 * A value that holds anything but plain printable characters is quoted and escaped.  So a client
 * cannot forge a line or send control characters to a terminal.  A line that an attacker can
 * trigger repeatedly goes through log_limited(), which reports how many lines it suppressed.
 *
 * A line that stderr does not take at once is dropped: a reader that hangs must not stop the
 * daemon.  The next line that is written follows one that says how many are missing.
 */
#pragma once

#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERROR = 3, /* syslog numbers, as systemd reads them */
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* Sets the program name at the front of every line, and the least important level to write. */
void log_start(const char *program, enum log_level least);

/* How many lines stderr did not take. */
uint64_t log_dropped(void);

struct log_field {
	const char *key;
	const char *text; /* NULL: `number` is the value */
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

/* The fields, if any, and one that is not counted, because C has no empty initializer list. */
#define LOG_FIELDS(...) ((const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ NULL, NULL, 0 } })
#define log_event(level, event, ...)                                \
	log_event_fields((level), (event), LOG_FIELDS(__VA_ARGS__), \
		sizeof(LOG_FIELDS(__VA_ARGS__)) / sizeof(struct log_field) - 1)

/*
 * Limits one place to `per_minute` lines a minute.  The first line after a gap has swallowed=N, the
 * number of suppressed lines.
 */
struct log_limit {
	int64_t window_start_ms;
	uint32_t written;
	uint32_t swallowed;
};

void log_limited(struct log_limit *limit, uint32_t per_minute, enum log_level level,
	const char *event, const struct log_field *fields, unsigned count);
