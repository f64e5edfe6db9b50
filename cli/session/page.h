/*
 * Pieces of a readable page about one run: fields, code with marked lines, output that is cut
 * with a hint, bars, findings.  `show`, `trace`, `check` and `demo` are made of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/session/cli.h"
#include "cli/terminal/table.h"

/* Members of a map of the daemon's: safe text ("" for none), an integer (0 for none). */
const char *page_text(struct cli *cli, const struct value *map, const char *key);
int64_t page_int(const struct value *map, const char *key);

/* More ways to show a member of a map, each "" when there is nothing. */
const char *page_unit(struct cli *cli, const struct value *map, const char *key);
const char *page_ago(struct cli *cli, const struct value *map, const char *key);
const char *page_moment(struct cli *cli, const struct value *map, const char *key);
const char *page_list(struct cli *cli, const struct value *map, const char *key);

/* How a run ended, or its state as long as it has not; and the paint of that. */
const char *page_outcome(struct cli *cli, const struct value *run, const char *key);
enum paint page_outcome_paint(const char *text);

/* A column of a table whose rows are maps of the daemon's. */
struct page_column {
	struct table_column table;
	const char *key;
	enum paint paint;
	/* Safe text; NULL: page_text(). */
	const char *(*text)(struct cli *cli, const struct value *row, const char *key);
	enum paint (*paint_of)(const char *text); /* by what it says; or NULL */
};

/* Prints a table with a row for each map of the list. */
void page_table(struct cli *cli, const struct page_column *columns, size_t count,
	const struct value *list, size_t indent);

/* Text or bytes, as programs and their output come. */
bool page_is_bytes(const struct value *value);

/* "  name        text"; nothing when the text is empty.  `text` is safe. */
void page_field(const struct cli *cli, const char *name, const char *text);

/* The same for words of any length: they go on below each other. */
void page_words(const struct cli *cli, const char *name, const char *text);

/* As page_field(), of a value. */
void page_value(struct cli *cli, const char *name, const struct value *value);

/* Lines to mark, and why. */
struct page_marks {
	const struct value *findings; /* list of {line, ...}, or NULL */
	int64_t error_line;           /* 0: none */
};

/* Source with line numbers; without `full` only the top and the lines around marked ones. */
void page_code(
	struct cli *cli, const struct value *code, const struct page_marks *marks, bool full);

/*
 * One line of a program or its output, safe and cut to the width that is left behind `indent`
 * columns.
 */
void page_line(
	const struct cli *cli, const char *line, size_t len, size_t indent, enum paint paint);

/* Text of a program, indented, at most `lines_max` lines; returns how many lines it left out. */
size_t page_block(struct cli *cli, const struct value *text, size_t lines_max);

/* `text`, which is safe, as a paragraph behind `indent` spaces. */
void page_wrapped(const struct cli *cli, enum paint paint, const char *text, size_t indent);

/* The same behind text that has filled `column` columns. */
void page_wrapped_from(
	const struct cli *cli, enum paint paint, const char *text, size_t indent, size_t column);

/* One line for each finding of a policy, with its message behind or below. */
void page_findings(struct cli *cli, const struct value *findings);

/*
 * One of `refused_calls`: "tried to open an internet socket 3 times, first after 12 ms (socket,
 * AF_INET)".
 */
const char *page_refused(struct cli *cli, const struct value *call);

/* The evidence, one line for each key. */
void page_evidence(struct cli *cli, const struct value *evidence);

/* output_number() and output_name(), in the arena of the call. */
static inline const char *page_number(struct cli *cli, const char *name, const struct value *number)
{
	return output_number(&cli->arena, name, number);
}

static inline const char *page_name(struct cli *cli, const char *name)
{
	return output_name(&cli->arena, name);
}

/* Where on a time line of `columns` something was, from `from` to `to` of `whole`. */
struct page_span {
	int64_t from, to, whole;
	size_t columns;
	bool filled; /* with blanks to its end, because more text follows */
};
void page_span(const struct cli *cli, enum paint paint, const struct page_span *span);
