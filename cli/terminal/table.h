/*
 * Rows under titles, as narrow as their contents and never wider than the terminal.
 *
 * When the rows do not fit, flexible columns become narrower first, then the columns with the
 * highest `drop` are left out.  A long text in a flexible column continues on the next lines; a
 * single long word, such as a digest, is cut.  Without a terminal everything is printed in full.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/terminal/output.h"
#include "proto/base/arena.h"

#define TABLE_COLUMNS_MAX 18

struct table_column {
	const char *title;
	bool right;
	bool flexible;
	unsigned drop; /* 0: never left out */
};

struct table_cell {
	const char *text; /* safe; NULL prints as "-" */
	enum paint paint;
};

struct table_line;

struct table {
	struct arena *arena;
	const struct table_column *columns;
	size_t column_count;
	struct table_line *first;
	struct table_line **end;
	size_t line_count;
	bool failed; /* a row did not fit into the arena */
};

/* Keeps `columns` and `arena` for the life of the table; nothing to free but the arena. */
void table_init(struct table *table, struct arena *arena, const struct table_column *columns,
	size_t column_count);

/* One row; copies the cells, keeps their texts. */
void table_add(struct table *table, const struct table_cell *cells);

/* Prints titles and rows, each behind `indent` spaces. */
void table_print(const struct table *table, const struct output *out, size_t indent);
