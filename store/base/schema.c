#include "store/base/schema.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "store/base/db.h"
#include "store/base/stmt.h"

#define APPLICATION_ID  0x63656431 /* "ced1" */
#define FIRST_SCHEMA    10         /* of the first release; earlier ones were of development */
#define QUICK_BYTES_MAX ((int64_t)64 << 20) /* a larger store is not checked at the start */

/*
 * ANALYZE leaves statistics tables behind when somebody runs it by hand.  They hold nothing of a
 * record.
 */
#define SCHEMA_OBJECTS                                                                  \
	"SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE NOT (" \
	"type = 'table' AND tbl_name = name AND (name, sql) IN (VALUES "                \
	"('sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'), "                 \
	"('sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'))) " \
	"ORDER BY type, name"

extern const struct embedded store_migrations[];

static int64_t newest(void)
{
	int64_t count = 0;

	while (store_migrations[count].name)
		count++;
	return FIRST_SCHEMA + count - 1;
}

/* An empty file will become ours. */
static int check_owner(struct store *store, struct err *err)
{
	int64_t id = 0;
	int64_t tables = 0;

	if (db_number(store, "PRAGMA application_id", 0, &id, err) < 0)
		return -1;
	if (id == APPLICATION_ID)
		return 0;
	if (db_number(store, "SELECT count(*) FROM sqlite_schema", 0, &tables, err) < 0)
		return -1;
	if (id != 0 || tables != 0 || store->mode == STORE_READ)
		return err_set(
			err, ERR_CORRUPT, "the store: %s is not a store of ced", store->path);
	return 0;
}

/* A damaged page should be found now rather than in the middle of a run. */
static int check_pages(struct store *store, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *stmt = NULL;
	int64_t bytes = 0;
	const char *words;

	if (db_bytes(store, &bytes, err) < 0)
		return -1;
	if (bytes > QUICK_BYTES_MAX)
		return 0;
	stmt = db_prepare(store, "PRAGMA quick_check(1)", err);
	if (stmt_step(store, stmt, err) < 0)
		return -1;
	words = (const char *)sqlite3_column_text(stmt, 0);
	if (words && strcmp(words, "ok") == 0)
		return 0;
	return err_set(err, ERR_CORRUPT, "the store: %s is damaged: %s", store->path,
		words ? words : "it cannot be checked");
}

static int apply(struct store *store, int64_t version, struct err *err)
{
	const struct embedded *migration = &store_migrations[version - FIRST_SCHEMA];
	char mark[96];

	(void)sqlite3_snprintf(sizeof(mark), mark,
		"PRAGMA application_id = %d; PRAGMA user_version = %lld", APPLICATION_ID,
		(long long)version);
	if (db_exec(store, "BEGIN IMMEDIATE", err) < 0)
		return -1;
	if (db_exec(store, (const char *)migration->bytes, err) < 0 ||
		db_exec(store, mark, err) < 0 || db_exec(store, "COMMIT", err) < 0) {
		(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
		return err_wrap(err, "%s", migration->name);
	}
	return 0;
}

static int check_version(const struct store *store, int64_t version, struct err *err)
{
	if (version < 0 || version > newest())
		return err_set(err, ERR_UNSUPPORTED,
			"the store: %s has schema %lld and this ced knows up to %lld: use a newer ced",
			store->path, (long long)version, (long long)newest());
	if (version && version < FIRST_SCHEMA)
		return err_set(err, ERR_UNSUPPORTED,
			"the store: a development version of ced wrote %s (schema %lld), and no release "
			"can open it: move ced.db and the files beside it away, and ced makes a new store",
			store->path, (long long)version);
	if (store->mode == STORE_READ && version < newest())
		return err_set(err, ERR_UNSUPPORTED,
			"the store: %s has schema %lld, and this ced reads schema %lld: start ced once "
			"to convert it",
			store->path, (long long)version, (long long)newest());
	return 0;
}

int schema_prepare(struct store *store, struct err *err)
{
	int64_t version = 0;

	if (check_owner(store, err) < 0 ||
		db_number(store, "PRAGMA user_version", 0, &version, err) < 0 ||
		check_version(store, version, err) < 0)
		return -1;
	/* Readers rely on the check by the writer. */
	if (version && store->mode == STORE_WRITE && check_pages(store, err) < 0)
		return -1;
	if (!version)
		version = FIRST_SCHEMA - 1;
	while (version < newest())
		if (apply(store, ++version, err) < 0)
			return -1;
	store->schema = version;
	return 0;
}

/* ---- comparing ---------------------------------------------------------------------------- */

AUTO_DEFINE(sqlite3, sqlite3_close_v2);

static int make_model(sqlite3 *model)
{
	int r = SQLITE_OK;

	for (size_t i = 0; r == SQLITE_OK && store_migrations[i].name; i++)
		r = sqlite3_exec(model, (const char *)store_migrations[i].bytes, NULL, NULL, NULL);
	return r;
}

static bool is_same_row(sqlite3_stmt *left, sqlite3_stmt *right)
{
	for (int i = 0; i < sqlite3_column_count(left); i++) {
		const char *a = (const char *)sqlite3_column_text(left, i);
		const char *b = (const char *)sqlite3_column_text(right, i);

		if (!a || !b || strcmp(a, b) != 0)
			return false;
	}
	return true;
}

static bool are_same(sqlite3_stmt *left, sqlite3_stmt *right)
{
	for (;;) {
		int a = sqlite3_step(left);
		int b = sqlite3_step(right);

		if (a == SQLITE_DONE && b == SQLITE_DONE)
			return true;
		if (a != SQLITE_ROW || b != SQLITE_ROW || !is_same_row(left, right))
			return false;
	}
}

int schema_compare(struct store *store, struct err *err)
{
	auto_of(sqlite3_close_v2) sqlite3 *model = NULL;
	auto_of(db_finish) sqlite3_stmt *expected = NULL;
	auto_of(db_finish) sqlite3_stmt *found = db_prepare(store, SCHEMA_OBJECTS, err);
	int r;

	if (!found)
		return -1;
	r = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (r == SQLITE_OK)
		r = make_model(model);
	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(model, SCHEMA_OBJECTS, -1, &expected, NULL);
	if (r != SQLITE_OK)
		return err_set(err, ERR_MEMORY, "the store: no memory to compare the tables");
	return !are_same(expected, found);
}
