#include "cli/session/page.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/safe.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "proto/base/buf.h"
#include "proto/base/clock.h"

#define NAME_COLUMNS  11
#define CODE_TOP      24 /* lines of code shown from the top */
#define CODE_AROUND   3  /* and around each marked line */
#define SAFE_LINE_MAX ((size_t)1 << 16)

const char *page_text(struct cli *cli, const struct value *map, const char *key)
{
	return output_text(&cli->arena, value_get(map, key));
}

int64_t page_int(const struct value *map, const char *key)
{
	return value_as_int(value_get(map, key), 0);
}

const char *page_unit(struct cli *cli, const struct value *map, const char *key)
{
	return page_number(cli, key, value_get(map, key));
}

const char *page_ago(struct cli *cli, const struct value *map, const char *key)
{
	int64_t wall_us = page_int(map, key);
	char text[TIMES_TEXT_MAX] = "";

	if (wall_us > 0)
		times_print_ago(text, wall_us, clock_wall_us());
	return output_safe(&cli->arena, text);
}

const char *page_moment(struct cli *cli, const struct value *map, const char *key)
{
	int64_t wall_us = page_int(map, key);
	char text[TIMES_TEXT_MAX] = "";

	if (wall_us > 0)
		times_print(text, wall_us);
	return output_safe(&cli->arena, text);
}

const char *page_list(struct cli *cli, const struct value *map, const char *key)
{
	const struct value *list = value_get(map, key);
	const char *text = "";

	for (size_t i = 0; value_at(list, i) && text; i++)
		text = arena_printf(&cli->arena, "%s%s%s", text, i ? " " : "",
			output_text(&cli->arena, value_at(list, i)));
	return text ? text : "";
}

const char *page_outcome(struct cli *cli, const struct value *run, const char *key)
{
	const char *outcome = page_text(cli, run, key);

	return outcome[0] ? outcome : page_text(cli, run, "state");
}

enum paint page_outcome_paint(const char *text)
{
	return !strcmp(text, "running") || !strcmp(text, "parked") ? PAINT_CYAN
								   : output_outcome_paint(text);
}

static struct table_cell cell_of(
	struct cli *cli, const struct page_column *column, const struct value *row)
{
	const char *text = column->text ? column->text(cli, row, column->key)
					: page_text(cli, row, column->key);

	return (struct table_cell){ text,
		column->paint_of ? column->paint_of(text) : column->paint };
}

void page_table(struct cli *cli, const struct page_column *columns, size_t count,
	const struct value *list, size_t indent)
{
	struct table_column titles[TABLE_COLUMNS_MAX];
	struct table table;

	for (size_t i = 0; i < count; i++)
		titles[i] = columns[i].table;
	table_init(&table, &cli->arena, titles, count);
	for (size_t n = 0; value_at(list, n); n++) {
		struct table_cell cells[TABLE_COLUMNS_MAX] = { 0 };

		for (size_t i = 0; i < count; i++)
			cells[i] = cell_of(cli, &columns[i], value_at(list, n));
		table_add(&table, cells);
	}
	table_print(&table, &cli->out, indent);
}

bool page_is_bytes(const struct value *value)
{
	return value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES);
}

void page_field(const struct cli *cli, const char *name, const char *text)
{
	if (!text || !text[0])
		return;
	say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, name);
	say(&cli->out, PAINT_PLAIN, "%s\n", text);
}

void page_words(const struct cli *cli, const char *name, const char *text)
{
	const size_t indent = 2 + NAME_COLUMNS + 1;

	say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, name);
	page_wrapped_from(cli, PAINT_PLAIN, text, indent, indent);
}

void page_value(struct cli *cli, const char *name, const struct value *value)
{
	page_field(cli, name, output_text(&cli->arena, value));
}

/* ---- text of a program --------------------------------------------------------------------- */

/* One line of the text at *at, without its end; moves on.  False at the end. */
static bool next_line(const struct value *text, size_t *at, const char **ret_line, size_t *ret_len)
{
	const char *start = text->text.bytes + *at;
	size_t left = text->text.len - *at;
	const char *end;

	if (left == 0)
		return false;
	end = memchr(start, '\n', left);
	*ret_line = start;
	*ret_len = end ? (size_t)(end - start) : left;
	*at += *ret_len + (end ? 1 : 0);
	return true;
}

void page_line(const struct cli *cli, const char *line, size_t len, size_t indent, enum paint paint)
{
	size_t room = cli->out.width > indent ? cli->out.width - indent : 0;
	struct buf buf;
	size_t shown;

	buf_init(&buf, SAFE_LINE_MAX);
	(void)safe_append(&buf, SAFE_BLOCK, line, len); /* past the ceiling: what fits */
	shown = room > 0 && safe_columns(buf.bytes, buf.len) > room
			? safe_fit(buf.bytes, buf.len, room - 1)
			: buf.len;
	say(&cli->out, paint, "%.*s%s\n", (int)shown, buf.bytes ? buf.bytes : "",
		shown < buf.len ? output_mark(&cli->out, MARK_CUT) : "");
	buf_done(&buf);
}

static bool is_near(int64_t line, int64_t marked, int64_t around)
{
	return marked > 0 && line >= marked - around && line <= marked + around;
}

static bool is_marked(const struct page_marks *marks, int64_t line, int64_t around)
{
	if (is_near(line, marks->error_line, around))
		return true;
	for (size_t i = 0; value_at(marks->findings, i); i++) {
		if (is_near(line, value_as_int(value_get(value_at(marks->findings, i), "line"), 0),
			    around))
			return true;
	}
	return false;
}

void page_code(struct cli *cli, const struct value *code, const struct page_marks *marks, bool full)
{
	const char *line = NULL;
	size_t len = 0;
	size_t at = 0;
	bool gap = false;

	if (!page_is_bytes(code))
		return;
	for (int64_t number = 1; next_line(code, &at, &line, &len); number++) {
		bool marked = is_marked(marks, number, 0);

		if (!full && number > CODE_TOP && !is_marked(marks, number, CODE_AROUND)) {
			gap = true;
			continue;
		}
		if (gap)
			say(&cli->out, PAINT_DIM, "       ...\n");
		gap = false;
		say(&cli->out, PAINT_RED, "%s", marked ? output_mark(&cli->out, MARK_ARROW) : " ");
		say(&cli->out, PAINT_DIM, "%5" PRId64 "  ", number);
		page_line(cli, line, len, 8, marked ? PAINT_RED : PAINT_PLAIN);
	}
	if (gap)
		say(&cli->out, PAINT_DIM, "       ...\n");
}

size_t page_block(struct cli *cli, const struct value *text, size_t lines_max)
{
	const char *line = NULL;
	size_t left_out = 0;
	size_t len = 0;
	size_t at = 0;

	if (!page_is_bytes(text))
		return 0;
	for (size_t count = 0; next_line(text, &at, &line, &len); count++) {
		if (count >= lines_max) {
			left_out++;
			continue;
		}
		say(&cli->out, PAINT_PLAIN, "  ");
		page_line(cli, line, len, 2, PAINT_PLAIN);
	}
	return left_out;
}

/* ---- findings and evidence ----------------------------------------------------------------- */

void page_wrapped_from(
	const struct cli *cli, enum paint paint, const char *text, size_t indent, size_t column)
{
	struct buf buf;

	buf_init(&buf, SAFE_LINE_MAX);
	if (text && options_wrap(text, indent, column, output_text_width(&cli->out), &buf) == 0)
		say(&cli->out, paint, "%.*s", (int)buf.len, buf.bytes);
	buf_done(&buf);
}

void page_wrapped(const struct cli *cli, enum paint paint, const char *text, size_t indent)
{
	page_wrapped_from(cli, paint, text, indent, 0);
}

static void print_finding(struct cli *cli, const struct value *finding)
{
	struct arena *arena = &cli->arena;
	const char *severity = output_text(arena, value_get(finding, "severity"));
	const char *hint = output_text(arena, value_get(finding, "hint"));
	bool denies = strcmp(severity, "deny") == 0;

	say(&cli->out, denies ? PAINT_RED : PAINT_YELLOW, "  %s ",
		output_mark(&cli->out, denies ? MARK_BAD : MARK_DOT));
	say(&cli->out, PAINT_BOLD, "%s", output_text(arena, value_get(finding, "rule")));
	say(&cli->out, PAINT_PLAIN, "  line %" PRId64 ", column %" PRId64 ":  %s\n",
		value_as_int(value_get(finding, "line"), 0),
		value_as_int(value_get(finding, "column"), 0),
		output_text(arena, value_get(finding, "text")));
	page_wrapped(cli, PAINT_PLAIN, output_text(arena, value_get(finding, "message")), 4);
	if (hint[0])
		page_wrapped(cli, PAINT_DIM, hint, 4);
}

void page_findings(struct cli *cli, const struct value *findings)
{
	for (size_t i = 0; value_at(findings, i); i++)
		print_finding(cli, value_at(findings, i));
}

/* Exact numbers under the keys that programs see, with what they mean behind them. */
static void print_evidence(struct cli *cli, const char *key, const struct value *value)
{
	const char *shown = page_number(cli, key, value);
	char exact[UNITS_TEXT_MAX];

	say(&cli->out, PAINT_DIM, "  %-14s ", output_safe(&cli->arena, key));
	if (!value_is(value, VALUE_INT)) {
		say(&cli->out, PAINT_PLAIN, "%s\n", shown);
		return;
	}
	units_print_count(exact, value_as_int(value, 0));
	say(&cli->out, PAINT_PLAIN, "%s", exact);
	if (strcmp(exact, shown) != 0)
		say(&cli->out, PAINT_DIM, "  (%s)", shown);
	say(&cli->out, PAINT_PLAIN, "\n");
}

void page_evidence(struct cli *cli, const struct value *evidence)
{
	for (size_t i = 0; value_is(evidence, VALUE_MAP) && i < evidence->map.count; i++)
		print_evidence(cli, evidence->map.entries[i].key, evidence->map.entries[i].value);
}

const char *page_refused(struct cli *cli, const struct value *call)
{
	int64_t count = page_int(call, "count");
	const char *kind = page_text(cli, call, "kind");
	const char *times = count > 1 ? arena_printf(&cli->arena, " %s times, first",
						page_number(cli, "count", value_get(call, "count")))
				      : "";
	const char *text = arena_printf(&cli->arena, "tried to %s%s after %s (%s%s%s)%s",
		page_text(cli, call, "wish"), times ? times : "",
		page_number(cli, "first_us", value_get(call, "first_us")),
		page_text(cli, call, "call"), kind[0] ? ", " : "", kind,
		value_as_bool(value_get(call, "ended"), false) ? " and was killed for it" : "");

	return text ? text : "";
}

static size_t column_of(const struct page_span *span, int64_t at)
{
	double part = span->whole > 0 ? (double)at / (double)span->whole : 0;

	if (part <= 0)
		return 0;
	return part >= 1 ? span->columns : (size_t)(part * (double)span->columns);
}

void page_span(const struct cli *cli, enum paint paint, const struct page_span *span)
{
	size_t from = column_of(span, span->from);
	size_t to = column_of(span, span->to);

	if (from >= span->columns && span->columns > 0)
		from = span->columns - 1;
	if (to <= from && span->to > span->from)
		to = from + 1;
	if (to < from)
		to = from;
	say(&cli->out, PAINT_PLAIN, "%*s", (int)from, "");
	output_repeat(&cli->out, paint, MARK_BAR, to - from);
	if (span->filled)
		say(&cli->out, PAINT_PLAIN, "%*s", (int)(span->columns - to), "");
}
