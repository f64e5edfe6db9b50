/*
 * The columns of a list of runs: what `cectl runs` can show, as a table for people or as CSV.
 */
#pragma once

#include <stddef.h>

#include "cli/commands.h"
#include "cli/table.h"

struct run_column {
	const char *name; /* as --columns wants it */
	const char *key;  /* of the row as runs.list answers it; the title of a CSV */
	struct table_column table;
	/* Safe text for a table; NULL: the key's value as it is. */
	const char *(*text)(struct cli *cli, const struct value *run, const char *key);
	enum paint (*paint)(const char *text); /* or NULL: plain */
};

struct run_columns {
	const struct run_column *columns[TABLE_COLUMNS_MAX];
	size_t count;
};

/* The columns that are named, by commas; NULL: the usual ones; "all".  -1 names one that is not. */
int run_columns_parse(const char *names, struct run_columns *ret_columns, struct err *err);

/* Prints the runs of a list as a table that fits. */
void run_columns_table(struct cli *cli, const struct run_columns *columns,
	const struct value *const *runs, size_t count);

/*
 * Lines of comma-separated values: titles, or the values of one run as the protocol has them.  Texts
 * are on one line, and one that a spreadsheet would take for a formula has a ' in front.
 */
void run_columns_csv_titles(struct cli *cli, const struct run_columns *columns);
void run_columns_csv(struct cli *cli, const struct run_columns *columns, const struct value *run);
