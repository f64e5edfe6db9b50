#include "cli/terminal/output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/safe.h"
#include "cli/base/units.h"
#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/json.h"

#define WIDTH_LEAST    20
#define TEXT_WIDTH     80
#define TEXT_WIDTH_MAX 100
#define DOCUMENT_MAX   ((size_t)256 << 20)
#define LINE_MAX_BYTES ((size_t)1 << 20) /* one value shown on one line */

static const char *const paints[] = {
	[PAINT_PLAIN] = "",
	[PAINT_BOLD] = "\033[1m",
	[PAINT_DIM] = "\033[2m",
	[PAINT_RED] = "\033[31m",
	[PAINT_GREEN] = "\033[32m",
	[PAINT_YELLOW] = "\033[33m",
	[PAINT_CYAN] = "\033[36m",
};

static const struct {
	const char *unicode;
	const char *ascii;
} marks[] = {
	[MARK_GOOD] = { "\u2713", "+" },
	[MARK_BAD] = { "\u2717", "x" },
	[MARK_LINE] = { "\u2500", "-" },
	[MARK_BAR] = { "\u2588", "#" },
	[MARK_CUT] = { "\u2026", "~" },
	[MARK_DOT] = { "\u00b7", "-" },
	[MARK_ARROW] = { "\u25b8", ">" },
};

static bool wants_colour(bool terminal)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no_color && no_color[0])
		return false;
	return terminal && term && term[0] && strcmp(term, "dumb") != 0;
}

/* The user's locale, not the one that main() sets for our tables of characters. */
static bool wants_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *locale = getenv(names[i]);

		if (locale && locale[0])
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

static size_t find_width(FILE *file, bool terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	uint64_t count = 0;

	if (columns && units_parse_count(columns, &count, NULL) == 0 && count >= WIDTH_LEAST &&
		count < 10000)
		return (size_t)count;
	if (!terminal)
		return 0;
	if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_LEAST)
		return size.ws_col;
	return TEXT_WIDTH;
}

void output_init(struct output *out, FILE *file)
{
	bool terminal = isatty(fileno(file)) == 1;

	*out = (struct output){
		.file = file,
		.terminal = terminal,
		.colour = wants_colour(terminal),
		.unicode = wants_unicode(),
		.width = find_width(file, terminal),
	};
}

size_t output_text_width(const struct output *out)
{
	if (out->width == 0)
		return TEXT_WIDTH;
	return out->width > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : out->width;
}

void say(const struct output *out, enum paint paint, const char *format, ...)
{
	bool coloured = out->colour && paint != PAINT_PLAIN;
	va_list args;

	if (coloured)
		(void)fputs(paints[paint], out->file);
	va_start(args, format);
	(void)vfprintf(out->file, format, args);
	va_end(args);
	if (coloured)
		(void)fputs("\033[0m", out->file);
}

const char *output_mark(const struct output *out, enum mark mark)
{
	return out->unicode ? marks[mark].unicode : marks[mark].ascii;
}

void output_repeat(const struct output *out, enum paint paint, enum mark mark, size_t count)
{
	for (size_t i = 0; i < count; i++)
		say(out, paint, "%s", output_mark(out, mark));
}

void output_heading(const struct output *out, const char *title)
{
	size_t width = output_text_width(out);
	size_t used = safe_columns(title, strlen(title)) + 4;

	say(out, PAINT_PLAIN, "\n");
	output_repeat(out, PAINT_DIM, MARK_LINE, 2);
	say(out, PAINT_BOLD, " %s ", title);
	output_repeat(out, PAINT_DIM, MARK_LINE, width > used ? width - used : 0);
	say(out, PAINT_PLAIN, "\n");
}

static int print_json(
	const struct output *out, const struct value *value, unsigned style, struct err *err)
{
	struct buf json;
	struct buf safe;
	int status;

	buf_init(&json, DOCUMENT_MAX);
	buf_init(&safe, DOCUMENT_MAX);
	status = json_write(&json, value, JSON_WRITE_BASE64 | style, err);
	if (status == 0 && safe_json(&safe, json.bytes, json.len) < 0)
		status = err_set(err, ERR_TOO_BIG, "the answer is too large to print");
	if (status == 0) {
		(void)fwrite(safe.bytes, 1, safe.len, out->file);
		(void)fputc('\n', out->file);
	}
	buf_done(&json);
	buf_done(&safe);
	return status;
}

int output_document(const struct output *out, const struct value *value, struct err *err)
{
	return print_json(out, value, out->terminal ? JSON_WRITE_PRETTY : JSON_WRITE_COMPACT, err);
}

int output_line(const struct output *out, const struct value *value, struct err *err)
{
	return print_json(out, value, JSON_WRITE_COMPACT, err);
}

static const char *safe_copy(struct arena *arena, const char *bytes, size_t len)
{
	struct buf buf;
	const char *copy;

	buf_init(&buf, LINE_MAX_BYTES);
	(void)safe_append(&buf, SAFE_LINE, bytes, len); /* past the ceiling: what fits */
	copy = arena_copy(arena, buf.bytes ? buf.bytes : "", buf.len);
	buf_done(&buf);
	return copy ? copy : "";
}

const char *output_safe(struct arena *arena, const char *text)
{
	return safe_copy(arena, text, strlen(text));
}

const char *output_text(struct arena *arena, const struct value *value)
{
	struct bytes json;

	if (!value || value_is(value, VALUE_NIL))
		return "";
	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return safe_copy(arena, value->text.bytes, value->text.len);
	if (json_write_text(arena, value, JSON_WRITE_BASE64, LINE_MAX_BYTES, &json, NULL) < 0)
		return "(too large to show)";
	return safe_copy(arena, json.data, json.len);
}

int output_done(const struct output *out, struct err *err)
{
	if (fflush(out->file) == 0 && !ferror(out->file))
		return 0;
	return err_sys(err, "cannot write the answer");
}

enum paint output_outcome_paint(const char *outcome)
{
	if (strcmp(outcome, "ok") == 0)
		return PAINT_GREEN;
	return outcome_facts(outcome)->own_end ? PAINT_YELLOW : PAINT_RED;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static const struct {
	const char *end;
	void (*print)(char ret_text[UNITS_TEXT_MAX], int64_t number);
	int64_t factor;
} units[] = {
	{ "_us", units_print_us, 1 },
	{ "_ms", units_print_us, 1000 },
	{ "_bytes", units_print_bytes, 1 },
	{ "bytes", units_print_bytes, 1 },
};

/* The row for a name's end, or -1. */
static int find_unit(const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < (int)COUNT_OF(units); i++) {
		size_t end_len = strlen(units[i].end);

		if (len >= end_len && strcmp(name + len - end_len, units[i].end) == 0)
			return i;
	}
	return -1;
}

const char *output_number(struct arena *arena, const char *name, const struct value *number)
{
	int unit = find_unit(name);
	char text[UNITS_TEXT_MAX];
	int64_t plain;

	if (!value_is(number, VALUE_INT))
		return output_text(arena, number);
	plain = value_as_int(number, 0);
	if (unit < 0)
		units_print_count(text, plain);
	else if (plain > INT64_MAX / units[unit].factor)
		cut_printf(text, sizeof(text), "%" PRId64 "%s", plain, units[unit].end);
	else
		units[unit].print(text, plain * units[unit].factor);
	return output_safe(arena, text);
}

const char *output_name(struct arena *arena, const char *name)
{
	int unit = find_unit(name);
	size_t name_len = strlen(name);
	size_t unit_len = unit < 0 ? 0 : strlen(units[unit].end);
	size_t len = unit_len < name_len ? name_len - unit_len : name_len;
	char *shown = arena_copy(arena, name, len);

	for (char *at = shown; at && *at; at++) {
		if (*at == '_')
			*at = ' ';
	}
	return shown ? output_safe(arena, shown) : "";
}
