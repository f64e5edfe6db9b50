/*
 * The same answer as text for people or as JSON for programs.
 *
 * Colour appears only on a terminal, never with NO_COLOR or TERM=dumb.  Drawings (lines, bars,
 * ticks) are plain ASCII unless the locale says UTF-8.  Whatever came from outside goes through
 * output_text() or safe_append() before it is printed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/value.h"

enum paint {
	PAINT_PLAIN,
	PAINT_BOLD,
	PAINT_DIM,
	PAINT_RED,
	PAINT_GREEN,
	PAINT_YELLOW,
	PAINT_CYAN
};

/* Marks that have two faces. */
enum mark {
	MARK_GOOD,
	MARK_BAD,
	MARK_LINE,
	MARK_BAR,
	MARK_CUT,
	MARK_DOT,
	MARK_ARROW
};

struct output {
	FILE *file;
	bool terminal;
	bool colour;
	bool unicode;
	size_t width; /* columns that tables must fit; 0: not a terminal, print all */
};

/* Looks at the descriptor and the environment. */
void output_init(struct output *out, FILE *file);

/* Columns for running text: the width, within what reads well. */
size_t output_text_width(const struct output *out);

/* Prints our own words; every %s that came from outside is output_text(). */
void say(const struct output *out, enum paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

const char *output_mark(const struct output *out, enum mark mark);

/* A heading with a line behind it. */
void output_heading(const struct output *out, const char *title);

/* `count` times a mark. */
void output_repeat(const struct output *out, enum paint paint, enum mark mark, size_t count);

/* One JSON document and a newline; pretty on a terminal, else on one line. */
int output_document(const struct output *out, const struct value *value, struct err *err);

/* The same, on one line in any case. */
int output_line(const struct output *out, const struct value *value, struct err *err);

/* Any value as one safe line: texts as they are, lists and maps as JSON.  "" for NULL and nil. */
const char *output_text(struct arena *arena, const struct value *value);

/* The same of a C string. */
const char *output_safe(struct arena *arena, const char *text);

/* A number under a name, with the unit that the end of the name says: _us, _ms, _bytes. */
const char *output_number(struct arena *arena, const char *name, const struct value *number);

/* How a name that ends with a unit is shown: "memory_bytes" is "memory". */
const char *output_name(struct arena *arena, const char *name);

/* Flushes; -1 when a write failed. */
int output_done(const struct output *out, struct err *err);

/* The paint of an outcome word: green for ok, yellow for the program's own end, red for ours. */
enum paint output_outcome_paint(const char *outcome);
