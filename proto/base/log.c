#include "proto/base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/at_once.h"
#include "proto/base/clock.h"
#include "proto/base/err.h"

/*
 * The longest line.  The kernel never mixes a write of at most PIPE_BUF bytes with another
 * process's.
 */
#define LINE_BYTES_MAX 4096
#define NUMBER_MAX     24
#define MINUTE_MS      60000

static const char CUT_END[] = "...\n";

static struct {
	const char *program;
	enum log_level least;
	bool for_people; /* stderr is a terminal */
} log_settings = { "ced", LOG_LEVEL_INFO, false };

/* The line so far.  Once a part did not fit, nothing more is added. */
struct line {
	size_t len;
	bool full;
	char bytes[LINE_BYTES_MAX];
};

void log_start(const char *program, enum log_level least)
{
	log_settings.program = program;
	log_settings.least = least;
	log_settings.for_people = isatty(STDERR_FILENO) == 1;
}

/* Adds all bytes or none, so that an escape is never cut in two. */
static void line_add(struct line *line, const char *bytes, size_t len)
{
	size_t room = LINE_BYTES_MAX - sizeof(CUT_END) - line->len;

	if (line->full || len > room) {
		line->full = true;
		return;
	}
	memcpy(line->bytes + line->len, bytes, len);
	line->len += len;
}

static void line_add_text(struct line *line, const char *text)
{
	line_add(line, text, strlen(text));
}

static void line_add_number(struct line *line, int64_t number)
{
	char digits[NUMBER_MAX];

	cut_printf(digits, sizeof(digits), "%lld", (long long)number);
	line_add_text(line, digits);
}

static bool is_visible(char byte)
{
	return byte > ' ' && byte < 0x7f;
}

/* Whether a value can stand without quotes. */
static bool is_plain(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text; text++)
		if (!is_visible(*text) || *text == '"' || *text == '\\' || *text == '=')
			return false;
	return true;
}

static void line_add_escaped(struct line *line, char byte)
{
	static const char hex[] = "0123456789abcdef";
	char escape[4] = { '\\', 'x', hex[(uint8_t)byte >> 4], hex[(uint8_t)byte & 15] };

	if (byte == '\n')
		line_add(line, "\\n", 2);
	else if (byte == '\t')
		line_add(line, "\\t", 2);
	else if (byte == '"' || byte == '\\')
		line_add(line, (char[]){ '\\', byte }, 2);
	else if (is_visible(byte) || byte == ' ')
		line_add(line, &byte, 1);
	else
		line_add(line, escape, sizeof(escape));
}

static void line_add_value(struct line *line, const char *text)
{
	bool plain = is_plain(text);

	if (!plain)
		line_add(line, "\"", 1);
	for (; *text && !line->full; text++)
		line_add_escaped(line, *text);
	if (!plain)
		line_add(line, "\"", 1);
}

static void line_add_field(struct line *line, const struct log_field *field)
{
	line_add(line, " ", 1);
	line_add_text(line, field->key);
	line_add(line, "=", 1);
	if (field->text)
		line_add_value(line, field->text);
	else
		line_add_number(line, field->number);
}

/* The texts that a terminal shows instead of <level>.  An ordinary event has none. */
static const char *const level_words[LOG_LEVEL_INFO] = {
	[LOG_LEVEL_ERROR] = "error: ",
	[LOG_LEVEL_WARNING] = "warning: ",
	[LOG_LEVEL_NOTICE] = "notice: ",
};

static void line_start(struct line *line, enum log_level level, const char *event)
{
	line->len = 0;
	line->full = false;
	if (log_settings.for_people) {
		if (level < LOG_LEVEL_INFO)
			line_add_text(line, level_words[level]);
	} else {
		line_add(line, "<", 1);
		line_add_number(line, level);
		line_add(line, ">", 1);
	}
	line_add_text(line, log_settings.program);
	line_add(line, " ", 1);
	line_add_text(line, event);
}

static _Atomic uint64_t dropped;          /* lines that stderr did not take ... */
static _Atomic uint64_t dropped_reported; /* ... and how many of them a later line has told */

uint64_t log_dropped(void)
{
	return dropped;
}

static bool line_write(struct line *line)
{
	const char *end = line->full ? CUT_END : "\n";
	size_t end_len = strlen(end);

	memcpy(line->bytes + line->len, end, end_len);
	line->len += end_len;
	return write_at_once(STDERR_FILENO, line->bytes, line->len);
}

/* Says before the next line how many are missing. */
static bool report_dropped(void)
{
	uint64_t missing = dropped - dropped_reported;
	struct line line;

	if (missing == 0)
		return true;
	line_start(&line, LOG_LEVEL_WARNING, "log.dropped");
	line_add_field(&line, &LOG_INT("lines", missing));
	if (!line_write(&line))
		return false;
	dropped_reported += missing;
	return true;
}

static void write_event(enum log_level level, const char *event, const struct log_field *fields,
	unsigned count, uint32_t swallowed)
{
	struct line line;
	int sys_errno = errno;

	line_start(&line, level, event);
	for (unsigned i = 0; i < count; i++)
		line_add_field(&line, &fields[i]);
	if (swallowed > 0)
		line_add_field(&line, &LOG_INT("swallowed", swallowed));
	if (!report_dropped() || !line_write(&line))
		dropped++;
	errno = sys_errno;
}

void log_event_fields(
	enum log_level level, const char *event, const struct log_field *fields, unsigned count)
{
	if (level <= log_settings.least)
		write_event(level, event, fields, count, 0);
}

/*
 * Returns whether this place may write a line now.  *ret_swallowed gets the number of lines
 * suppressed before it.
 */
static bool limit_allows(struct log_limit *limit, uint32_t per_minute, uint32_t *ret_swallowed)
{
	int64_t now_ms = clock_ms();

	if (limit->written > 0 && now_ms - limit->window_start_ms >= MINUTE_MS)
		limit->written = 0;
	if (limit->written == 0)
		limit->window_start_ms = now_ms;
	if (limit->written >= per_minute) {
		limit->swallowed++;
		return false;
	}

	limit->written++;
	*ret_swallowed = limit->swallowed;
	limit->swallowed = 0;
	return true;
}

void log_limited(struct log_limit *limit, uint32_t per_minute, enum log_level level,
	const char *event, const struct log_field *fields, unsigned count)
{
	uint32_t swallowed = 0;

	if (level <= log_settings.least && limit_allows(limit, per_minute, &swallowed))
		write_event(level, event, fields, count, swallowed);
}
