/* Checks all pages of a store, one table at a time. */
#include <string.h>

#include "store/base/db.h"
#include "store/maintenance.h"

#define TABLES_MAX     64
#define NAME_MAX_BYTES 64

/* One look at the whole file. */
struct look {
	struct store *store;
	const atomic_bool *stop;
	struct store_findings *findings;
	char tables[TABLES_MAX][NAME_MAX_BYTES];
	unsigned count;
};

static void note(struct store_findings *findings, const char *table, const char *words)
{
	if (findings->damages++ == 0)
		cut_printf(findings->first, sizeof(findings->first), "%s: %s", table, words);
}

/* A failure of SQLite that is damage counts as a finding. */
static int note_failure(struct look *look, const char *table, int code, struct err *err)
{
	struct err why = ERR_INIT;

	(void)db_failed(look->store, code, &why);
	if (why.code != ERR_CORRUPT)
		return err_pass(err, &why);
	note(look->findings, table, why.text);
	return 0;
}

static int list_tables(struct look *look, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(look->store->db,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", -1, &stmt,
		NULL);

	while (r == SQLITE_OK || r == SQLITE_ROW) {
		r = sqlite3_step(stmt);
		if (r != SQLITE_ROW || look->count == TABLES_MAX)
			break;
		cut_printf(look->tables[look->count++], NAME_MAX_BYTES, "%s",
			(const char *)sqlite3_column_text(stmt, 0));
	}
	if (r != SQLITE_DONE)
		r = note_failure(look, "sqlite_schema", r, err);
	else
		r = 0;
	return r;
}

static void read_findings(struct look *look, sqlite3_stmt *stmt, const char *table)
{
	const char *words = (const char *)sqlite3_column_text(stmt, 0);

	if (!words || strcmp(words, "ok") != 0)
		note(look->findings, table, words ? words : "it cannot be checked");
}

static int check_table(struct look *look, const char *table, struct err *err)
{
	auto_of(db_finish) sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf("PRAGMA integrity_check(%Q)", table);
	int r = sql ? sqlite3_prepare_v2(look->store->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	while (r == SQLITE_OK || r == SQLITE_ROW) {
		r = sqlite3_step(stmt);
		if (r == SQLITE_ROW)
			read_findings(look, stmt, table);
	}
	r = r == SQLITE_DONE ? 0 : note_failure(look, table, r, err);
	look->findings->tables++;
	return r;
}

/* SQLite calls it now and then; a result other than 0 ends the statement. */
static int asked(void *context)
{
	const atomic_bool *stop = context;

	return atomic_load(stop);
}

static int check_all(struct look *look, struct err *err)
{
	if (list_tables(look, err) < 0)
		return -1;
	for (unsigned i = 0; i < look->count; i++) {
		if (atomic_load(look->stop))
			return err_set(err, ERR_CLOSED, "the store: the check was broken off");
		if (check_table(look, look->tables[i], err) < 0)
			return -1;
	}
	return 0;
}

int store_check(struct store *store, const atomic_bool *stop, struct store_findings *ret_findings,
	struct err *err)
{
	struct look look = { .store = store, .stop = stop, .findings = ret_findings };
	int r;

	*ret_findings = (struct store_findings){ 0 };
	/* The check must read the file and not the cache. */
	(void)sqlite3_db_release_memory(store->db);
	sqlite3_progress_handler(store->db, 10000, asked, (void *)(uintptr_t)stop);
	r = check_all(&look, err);
	sqlite3_progress_handler(store->db, 0, NULL, NULL);
	return r;
}
