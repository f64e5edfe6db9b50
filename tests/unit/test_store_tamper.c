/*
 * A person with write access to the file changes it: every column of every table, in some rows and
 * in several ways; removed rows; added rows.  SQLite lists the tables and columns, so a new one is
 * covered without a change here.  Verification must find each change except those in the list
 * below, which docs/THREATS.md shows too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "store/base/db.h"
#include "tests/check.h"
#include "tests/unit/store_rich.h"

#define SQL_SIZE      8192
#define NAMES_MAX     256
#define LIST_BEGINS   "<!-- what verification does not find -->\n"
#define LIST_ENDS     "<!-- end -->"
#define THREATS_BYTES ((size_t)1 << 20)

/* Changes that verification does not find, and why they do no harm, as in docs/THREATS.md. */
static struct excuse {
	const char *change;
	const char *why;
	bool met;
} excuses[] = {
	{ "a row of `cached` goes",
		"the oldest go anyhow when there are more than may be kept; the program runs once more",
		false },
	{ "`words_data`",
		"bytes of the index of words that lead to no other word: its spare ones, and how it is cut into parts",
		false },
	{ "`words_idx`",
		"where the index of words begins to look: a search finds fewer runs, or says that the index is damaged",
		false },
};

/* ---- applying a change ---------------------------------------------------------------------- */

struct trying {
	struct shop *shop;
	struct bytes whole;
	const char *table;
	const char *column; /* NULL: the change is to a row */
	char key[256];      /* the columns that identify a row, with commas */
	unsigned tried, found, excused;
};

/*
 * The word index caches what it has read of its tables, and would miss a change within the
 * connection.
 */
static bool is_of_words(const char *table)
{
	return strncmp(table, "words", 5) == 0;
}

/* One problem is enough, so the parts that find most come first. */
static int64_t look(struct shop *shop)
{
	static const enum store_part parts[] = { STORE_PART_CHAIN, STORE_PART_TABLES,
		STORE_PART_BLOBS, STORE_PART_CHECKPOINTS };
	int64_t found = 0;

	for (size_t i = 0; i < COUNT_OF(parts) && found == 0; i++) {
		const struct store_span span = { parts[i], 1, 1000, &trust };
		struct value *report = NULL;

		if (store_verify(shop->store, &span, &shop->arena, &report, &shop->err) < 0)
			found = 1; /* a finding too */
		else
			found = value_as_int(value_get(report, "found"), 1);
	}
	arena_done(&shop->arena);
	arena_init(&shop->arena, (size_t)64 << 20);
	return found;
}

/*
 * Returns -1 if nothing was changed; otherwise the number of problems, or 1 if the store cannot be
 * read.
 */
static int64_t found_within(struct shop *shop, const char *sql)
{
	sqlite3 *db = shop->store->db;
	int64_t found = -1;
	int before = sqlite3_total_changes(db);
	int r = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_exec(db, sql, NULL, NULL, NULL);
	if (r == SQLITE_OK && sqlite3_total_changes(db) != before)
		found = look(shop);
	if (sqlite3_exec(db, "ROLLBACK; DROP TABLE IF EXISTS temp.n", NULL, NULL, NULL) !=
		SQLITE_OK)
		found = 0; /* 0 fails the test: no excuse covers it */
	return found;
}

static int64_t found_in_a_copy(struct shop *shop, struct bytes whole, const char *sql)
{
	int64_t found;
	sqlite3 *db;
	int changes = 0;

	put_back(shop, whole);
	db = break_in(shop);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		changes = sqlite3_total_changes(db);
	(void)sqlite3_close(db);
	if (changes == 0)
		return -1;
	shop->store = store_open(shop->folder, STORE_READ, &shop->err);
	found = shop->store ? look(shop) : 1;
	store_close(shop->store);
	shop->store = NULL;
	return found;
}

static struct excuse *excuse_for(const struct trying *trying, const char *how)
{
	char change[160];
	char table[96];

	(void)snprintf(table, sizeof(table), "`%s`", trying->table);
	if (trying->column)
		(void)snprintf(change, sizeof(change), "`%s.%s`", trying->table, trying->column);
	else
		(void)snprintf(change, sizeof(change), "a row of `%s` %s", trying->table, how);
	for (size_t i = 0; i < COUNT_OF(excuses); i++)
		if (!strcmp(excuses[i].change, change) || !strcmp(excuses[i].change, table))
			return &excuses[i];
	return NULL;
}

static void change(struct trying *trying, const char *how, const char *sql)
{
	int64_t found = is_of_words(trying->table)
				? found_in_a_copy(trying->shop, trying->whole, sql)
				: found_within(trying->shop, sql);
	struct excuse *excuse;

	if (found < 0)
		return;
	trying->tried++;
	if (found > 0) {
		trying->found++;
		return;
	}
	excuse = excuse_for(trying, how);
	if (!excuse)
		printf("# not found: %s%s%s %s\n", trying->table, trying->column ? "." : "",
			trying->column ? trying->column : "", how);
	CHECK(excuse != NULL);
	if (!excuse)
		return;
	excuse->met = true;
	trying->excused++;
}

/* ---- the kinds of change -------------------------------------------------------------------- */

/* Selects rows by a number that SQLite counts, so that each copy has the same row. */
static const char *const rows[] = {
	"0",
#if !defined(__SANITIZE_ADDRESS__) /* there each change takes long, and finds the same */
	"n / 2",
	"n - 1",
#endif
};

/* Replacement values for a column; `@` is the column. */
static const struct {
	const char *how;
	const char *value;
} values[] = {
	{ "becomes NULL", "NULL" },
	{ "becomes a number", "4242" },
	{ "becomes another number", "CASE typeof(@) WHEN 'integer' THEN @ - 1 ELSE -1 END" },
	{ "becomes a larger number", "CASE typeof(@) WHEN 'integer' THEN @ + 987654321 END" },
	{ "becomes a text", "'another text'" },
	{ "becomes a longer text", "CASE typeof(@) WHEN 'text' THEN @ || 'x' END" },
	{ "becomes other bytes", "x'0102030405060708'" },
	{ "becomes longer bytes", "CASE typeof(@) WHEN 'blob' THEN CAST(@ || x'00' AS BLOB) END" },
	{ "becomes another type", "CASE typeof(@) WHEN 'text' THEN CAST(@ AS BLOB) WHEN 'blob' "
				  "THEN CAST(@ AS TEXT) WHEN 'integer' THEN @ + 0.5 END" },
	{ "has a byte changed",
		"CASE WHEN typeof(@) IN ('blob', 'text') AND length(@) > 1 THEN "
		"CAST(substr(@, 1, length(@) / 2) || x'7e' || substr(@, length(@) / 2 "
		"+ 2) AS BLOB) END" },
};

/* Some columns have names that are SQLite keywords, so the names are quoted. */
static void put_value(char *to, size_t size, const char *value, const char *column)
{
	size_t len = 0;

	for (; *value && len + 70 < size; value++) {
		if (*value == '@')
			len += (size_t)snprintf(to + len, size - len, "\"%s\"", column);
		else
			to[len++] = *value;
	}
	to[len] = '\0';
}

static void write_row(const struct trying *trying, const char *row, char ret_where[1024])
{
	(void)snprintf(ret_where, 1024,
		"(%s) = (SELECT %s FROM \"%s\" ORDER BY %s LIMIT 1 OFFSET "
		"(SELECT max(0, %s) FROM (SELECT count(*) AS n FROM \"%s\")))",
		trying->key, trying->key, trying->table, trying->key, row, trying->table);
}

static void try_values(struct trying *trying)
{
	char where[1024];
	char value[1024];
	char sql[SQL_SIZE];

	for (size_t row = 0; row < COUNT_OF(rows); row++) {
		write_row(trying, rows[row], where);
		for (size_t i = 0; i < COUNT_OF(values); i++) {
			put_value(value, sizeof(value), values[i].value, trying->column);
			/*
			 * A row that already has this value is not updated, so it does not count
			 * as a change.  Nor does a large integer to which adding a half gives the
			 * same real: SQLite stores the integer again.
			 */
			(void)snprintf(sql, sizeof(sql),
				"UPDATE \"%s\" SET \"%s\" = %s WHERE %s AND (typeof(%s) <> "
				"typeof(\"%s\") OR %s IS NOT \"%s\") AND NOT (typeof(%s) IS 'real' "
				"AND %s IS \"%s\")%s",
				trying->table, trying->column, value, where, value, trying->column,
				value, trying->column, value, value, trying->column,
				i == 0 ? "" : " AND 1");
			if (i > 0) {
				size_t len = strlen(sql);

				(void)snprintf(sql + len, sizeof(sql) - len,
					" AND (%s) IS NOT NULL", value);
			}
			change(trying, values[i].how, sql);
		}
	}
}

static void try_rows(struct trying *trying)
{
	char where[1024];
	char sql[SQL_SIZE];
	const char *comma = strrchr(trying->key, ',');
	const char *last = comma ? comma + 1 : trying->key;

	for (size_t row = 0; row < COUNT_OF(rows); row++) {
		write_row(trying, rows[row], where);
		(void)snprintf(
			sql, sizeof(sql), "DELETE FROM \"%s\" WHERE %s", trying->table, where);
		change(trying, "goes", sql);
		(void)snprintf(sql, sizeof(sql),
			"CREATE TEMP TABLE n AS SELECT * FROM \"%s\" WHERE %s; UPDATE n SET %s = CASE "
			"typeof(%s) WHEN 'integer' THEN %s + 7 WHEN 'text' THEN %s || 'x' ELSE "
			"CAST(%s || x'07' AS BLOB) END; INSERT INTO \"%s\" SELECT * FROM n",
			trying->table, where, last, last, last, last, last, trying->table);
		change(trying, "comes twice", sql);
	}
	(void)snprintf(sql, sizeof(sql), "DELETE FROM \"%s\"", trying->table);
	change(trying, "goes", sql);
}

/* ---- all changes ---------------------------------------------------------------------------- */

static char tables[NAMES_MAX][64];
static char columns[NAMES_MAX][64];

static size_t list(sqlite3 *db, const char *sql, const char *of, char names[NAMES_MAX][64])
{
	sqlite3_stmt *row = NULL;
	size_t count = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
		return 0;
	if (of)
		(void)sqlite3_bind_text(row, 1, of, -1, SQLITE_STATIC);
	while (sqlite3_step(row) == SQLITE_ROW && count < NAMES_MAX)
		(void)snprintf(names[count++], 64, "%s", (const char *)sqlite3_column_text(row, 0));
	(void)sqlite3_finalize(row);
	return count;
}

#define KEY "SELECT group_concat('\"' || name || '\"') FROM pragma_table_info(?) WHERE pk > 0"

/* Reads the table's columns.  Returns their number. */
static size_t learn(struct trying *trying, sqlite3 *db)
{
	static char keys[NAMES_MAX][64];
	char sql[512];

	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM \"%s\"", trying->table);
	if (number_of(db, sql) <=
		0) /* an empty table would test nothing: store_rich.c must fill it */
		return 0;
	if (list(db, KEY, trying->table, keys) != 1)
		return 0;
	(void)snprintf(trying->key, sizeof(trying->key), "%s", keys[0]);
	return list(db, "SELECT name FROM pragma_table_info(?)", trying->table, columns);
}

static void try_table(struct trying *trying, size_t count)
{
	unsigned before = trying->tried;

	CHECK(count > 0);
	trying->column = NULL;
	try_rows(trying);
	for (size_t i = 0; i < count; i++) {
		trying->column = columns[i];
		try_values(trying);
	}
	printf("# %s: %u changes\n", trying->table, trying->tried - before);
	CHECK(trying->tried > before);
}

/* The word index itself is a view of the tables with its name and an underscore. */
#define TABLES                                                                                     \
	"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND sql " \
	"NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"

static void close_whole(struct bytes *whole)
{
	free((char *)(uintptr_t)whole->data);
}

static void try_all(struct trying *trying)
{
	struct shop *shop = trying->shop;
	size_t columns_there;
	size_t count;
	sqlite3 *db;

	shut(shop, &trying->whole);
	shop->store = store_open(shop->folder, STORE_WRITE, &shop->err);
	CHECK(shop->store != NULL);
	CHECK_EQ_INT(verify_all(shop, true), 0);
	count = list(shop->store->db, TABLES, NULL, tables);
	for (size_t i = 0; i < count; i++) {
		trying->table = tables[i];
		if (!is_of_words(tables[i]))
			try_table(trying, learn(trying, shop->store->db));
	}
	CHECK_EQ_INT(verify_all(shop, true), 0);
	store_close(shop->store);
	shop->store = NULL;
	for (size_t i = 0; i < count; i++) {
		trying->table = tables[i];
		if (!is_of_words(tables[i]))
			continue;
		put_back(shop, trying->whole);
		db = break_in(shop);
		columns_there = learn(trying, db);
		(void)sqlite3_close(db);
		try_table(trying, columns_there);
	}
}

TEST(every_change_of_any_row_or_column_is_found_or_on_the_list)
{
	auto_shop struct shop shop;
	struct trying trying = { .shop = &shop };

	shop_init(&shop);
	fill(&shop);
	try_all(&trying);
	printf("# %u changes, %u found, %u on the list\n", trying.tried, trying.found,
		trying.excused);
	CHECK(trying.tried > 700 * COUNT_OF(rows));
	for (size_t i = 0; i < COUNT_OF(excuses); i++) {
		printf("# %s: %s\n", excuses[i].change, excuses[i].why);
		CHECK(excuses[i].met); /* otherwise it must leave the list */
	}
	close_whole(&trying.whole);
}

/* ---- the list in the document ---------------------------------------------------------------- */

static void write_list(char *text, size_t size)
{
	size_t len = (size_t)snprintf(
		text, size, "\n| change | why it is not looked for |\n|---|---|\n");

	for (size_t i = 0; i < COUNT_OF(excuses) && len < size; i++)
		len += (size_t)snprintf(
			text + len, size - len, "| %s | %s |\n", excuses[i].change, excuses[i].why);
}

TEST(the_document_shows_this_very_list)
{
	const char *path = getenv("CED_THREATS");
	struct err err = ERR_INIT;
	char *text = NULL;
	size_t len = 0;
	char wanted[8192];
	const char *begin;
	const char *end;

	CHECK(path != NULL);
	CHECK_EQ_INT(read_file(path, THREATS_BYTES, &text, &len, &err), 0);
	write_list(wanted, sizeof(wanted));
	begin = memmem(text, len, LIST_BEGINS, strlen(LIST_BEGINS));
	CHECK(begin != NULL);
	begin += strlen(LIST_BEGINS);
	end = memmem(begin, len - (size_t)(begin - text), LIST_ENDS, strlen(LIST_ENDS));
	CHECK(end != NULL);
	if ((size_t)(end - begin) != strlen(wanted) + 1 ||
		memcmp(begin, wanted, strlen(wanted)) != 0)
		printf("%s", wanted);
	CHECK((size_t)(end - begin) == strlen(wanted) + 1);
	CHECK(memcmp(begin, wanted, strlen(wanted)) == 0);
	free(text);
}
