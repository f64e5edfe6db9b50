#include <string.h>

#include "proto/base/embedded.h"
#include "store/db.h"

#define APPLICATION_ID  0x63656431          /* "ced1" */
#define QUICK_BYTES_MAX ((int64_t)64 << 20) /* beyond it a check takes longer than a start may */

extern const struct embedded store_migrations[];

static int64_t newest(void)
{
	int64_t count = 0;

	while (store_migrations[count].name)
		count++;
	return count;
}

/* Is the file ours?  An empty one is going to be. */
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

/* A damaged page is better met now than in the middle of a run. */
static int check_pages(struct store *store, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	int64_t bytes = 0;
	const char *words = NULL;
	int r;

	if (db_number(store,
		    "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", 0,
		    &bytes, err) < 0)
		return -1;
	if (bytes > QUICK_BYTES_MAX)
		return 0;

	r = sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &stmt, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_step(stmt);
	if (r == SQLITE_ROW)
		words = (const char *)sqlite3_column_text(stmt, 0);
	if (r != SQLITE_ROW)
		r = db_failed(store, r, err);
	else if (!words || strcmp(words, "ok") != 0)
		r = err_set(err, ERR_CORRUPT, "the store: %s is damaged: %s", store->path,
			words ? words : "it cannot be checked");
	else
		r = 0;
	(void)sqlite3_finalize(stmt);
	return r;
}

static int apply(struct store *store, int64_t version, struct err *err)
{
	const struct embedded *migration = &store_migrations[version];
	char mark[96];

	(void)sqlite3_snprintf(sizeof(mark), mark,
		"PRAGMA application_id = %d; PRAGMA user_version = %lld", APPLICATION_ID,
		(long long)version + 1);
	if (db_exec(store, "BEGIN IMMEDIATE", err) < 0)
		return -1;
	if (db_exec(store, (const char *)migration->bytes, err) < 0 ||
		db_exec(store, mark, err) < 0 || db_exec(store, "COMMIT", err) < 0) {
		(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
		return err_wrap(err, "%s", migration->name);
	}
	return 0;
}

int schema_make(sqlite3 *db)
{
	int r = SQLITE_OK;

	for (int64_t version = 0; version < newest() && r == SQLITE_OK; version++)
		r = sqlite3_exec(
			db, (const char *)store_migrations[version].bytes, NULL, NULL, NULL);
	return r;
}

int schema_prepare(struct store *store, struct err *err)
{
	int64_t version = 0;

	if (check_owner(store, err) < 0)
		return -1;
	if (db_number(store, "PRAGMA user_version", 0, &version, err) < 0)
		return -1;
	if (version < 0 || version > newest())
		return err_set(err, ERR_UNSUPPORTED,
			"the store: %s has schema %lld and this ced knows up to %lld: use a newer ced",
			store->path, (long long)version, (long long)newest());
	if (store->mode == STORE_READ && version < newest())
		return err_set(err, ERR_UNSUPPORTED,
			"the store: %s has schema %lld, older than %lld: start ced once to bring it up",
			store->path, (long long)version, (long long)newest());
	store->came_from = version;
	/* For readers the writer has looked. */
	if (version && store->mode == STORE_WRITE && check_pages(store, err) < 0)
		return -1;
	for (; version < newest(); version++) {
		if (apply(store, version, err) < 0)
			return -1;
	}
	store->schema = version;
	return 0;
}

/* ---- tables of a file that anybody may have made ------------------------------------------ */

static int make_model(sqlite3 *model)
{
	int r = SQLITE_OK;

	for (int64_t version = 0; r == SQLITE_OK && version < newest(); version++)
		r = sqlite3_exec(
			model, (const char *)store_migrations[version].bytes, NULL, NULL, NULL);
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

/* Both to their ends, row by row. */
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

int schema_check_tables(struct store *store, struct err *err)
{
	sqlite3_stmt *hoped = NULL;
	sqlite3_stmt *found = NULL;
	sqlite3 *model = NULL;
	bool same = false;
	int r = sqlite3_open_v2(
		":memory:", &model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (r == SQLITE_OK)
		r = make_model(model);
	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(model, SCHEMA_OBJECTS, -1, &hoped, NULL);
	if (r == SQLITE_OK) {
		r = sqlite3_prepare_v2(store->db, SCHEMA_OBJECTS, -1, &found, NULL);
		if (r != SQLITE_OK)
			(void)db_failed(store, r, err);
		else
			same = are_same(hoped, found);
	} else {
		(void)err_set(err, ERR_MEMORY, "the store: no memory to look at its tables");
	}
	(void)sqlite3_finalize(hoped);
	(void)sqlite3_finalize(found);
	(void)sqlite3_close(model);
	if (r == SQLITE_OK && !same)
		return err_set(err, ERR_CORRUPT, "the store: the tables of %s are not those of ced",
			store->path);
	return r == SQLITE_OK ? 0 : -1;
}
