/*
 * How SQLite runs the fixed statements.  A statement that scans a table that grows with the runs takes
 * longer with every run that the store holds.
 */
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "store/base/sql.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

static const struct {
	const char *name;
	const char *sql;
} statements[] = {
#define STATEMENT(name, sql) { #name, (sql) },
#include "store/base/statements.h"
#undef STATEMENT
};

/* Tables that do not grow with the runs, by their names or aliases, and tables that are made in between. */
static const char *const short_tables[] = { "pending", "parked", "p", "grants", "g", "blocks",
	"cached", "last", "decided", "d", "acts", "a", "v", "words" };

/* Statements that read a whole table, and run once. */
static const struct {
	const char *name;
	const char *why;
} exceptions[] = {
	{ "STMT_SPENT_READ", "finds the first key with an OFFSET, once at the start" },
	{ "STMT_CHAIN_END", "reads the last row" },
	{ "STMT_CHECKPOINT_LAST", "reads the last row" },
};

static bool is_excepted(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(exceptions); i++)
		if (strcmp(exceptions[i].name, name) == 0)
			return true;
	return false;
}

static bool is_long_scan(const char *step)
{
	const char *table = step + strlen("SCAN ");
	size_t len;

	if (strncmp(step, "SCAN ", strlen("SCAN ")) != 0)
		return false;
	len = strcspn(table, " ");
	for (size_t i = 0; i < COUNT_OF(short_tables); i++)
		if (strlen(short_tables[i]) == len && strncmp(table, short_tables[i], len) == 0)
			return false;
	return true;
}

/* The number of steps that scan a long table; -1: the statement cannot be compiled. */
static int long_scans(sqlite3 *db, const char *name, const char *sql)
{
	char *question = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *row = NULL;
	int count = -1;

	if (sqlite3_prepare_v2(db, question, -1, &row, NULL) == SQLITE_OK)
		count = 0;
	while (row && sqlite3_step(row) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(row, 3);

		if (!is_long_scan(step))
			continue;
		printf("# %s: %s\n", name, step);
		count++;
	}
	(void)sqlite3_finalize(row);
	sqlite3_free(question);
	return count;
}

TEST(no_statement_scans_a_table_that_grows_with_the_runs)
{
	auto_shop struct shop shop;
	sqlite3 *db = NULL;
	char path[128];

	shop_init(&shop);
	(void)snprintf(path, sizeof(path), "%s/ced.db", shop.folder);
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	for (size_t i = 0; i < COUNT_OF(statements); i++)
		if (!is_excepted(statements[i].name))
			CHECK_EQ_INT(long_scans(db, statements[i].name, statements[i].sql), 0);
	(void)sqlite3_close(db);
}
