#include "store/base/stmt.h"

#include <stdlib.h>

#include "proto/base/utf8.h"
#include "proto/digest.h"
#include "store/base/db.h"
#include "store/base/sql.h"

static const char *const sql_of[STMT_COUNT] = {
#define STATEMENT(name, sql) [name] = (sql),
#include "store/base/statements.h"
#undef STATEMENT
};

sqlite3_stmt *stmt_take(struct store *store, enum stmt_name name, struct err *err)
{
	sqlite3_stmt **stmt = &store->stmts[name];
	int r;

	if (*stmt) {
		(void)sqlite3_reset(*stmt);
		(void)sqlite3_clear_bindings(*stmt);
		return *stmt;
	}
	r = sqlite3_prepare_v3(store->db, sql_of[name], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
	if (r == SQLITE_OK)
		return *stmt;
	(void)db_failed(store, r, err);
	return NULL;
}

sqlite3_stmt **stmt_table_new(void)
{
	return calloc(STMT_COUNT, sizeof(sqlite3_stmt *));
}

void stmt_table_free(sqlite3_stmt **stmts)
{
	for (unsigned i = 0; stmts && i < STMT_COUNT; i++)
		(void)sqlite3_finalize(stmts[i]);
	free(stmts);
}

static int bind_bytes(sqlite3_stmt *stmt, int at, const struct sql_value *value)
{
	/* A NULL pointer would give NULL where an empty value is meant. */
	const char *bytes = value->bytes ? value->bytes : "";

	if (value->type == SQL_BLOB ||
		(value->type == SQL_WORDS && !utf8_is_valid(bytes, value->len)))
		return sqlite3_bind_blob64(stmt, at, bytes, value->len, SQLITE_STATIC);
	return sqlite3_bind_text64(stmt, at, bytes, value->len, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_hash(sqlite3_stmt *stmt, int at, const char *text)
{
	uint8_t digest[DIGEST_LEN];

	if (!text || digest_from_text(text, digest) < 0)
		return sqlite3_bind_null(stmt, at);
	return sqlite3_bind_blob(stmt, at, digest, sizeof(digest), SQLITE_TRANSIENT);
}

int stmt_bind(sqlite3_stmt *stmt, int at, const struct sql_value *value)
{
	switch (value->type) {
	case SQL_INT:
		return sqlite3_bind_int64(stmt, at, value->number);
	case SQL_TEXT:
		return sqlite3_bind_text(stmt, at, value->bytes, -1, SQLITE_STATIC);
	case SQL_CUT:
	case SQL_WORDS:
	case SQL_BLOB:
		return bind_bytes(stmt, at, value);
	case SQL_HASH:
		return bind_hash(stmt, at, value->bytes);
	case SQL_COPY:
		return sqlite3_bind_value(stmt, at, value->bytes);
	case SQL_NULL:
	case SQL_END:
		break;
	}
	return sqlite3_bind_null(stmt, at);
}

sqlite3_stmt *stmt_with(
	struct store *store, enum stmt_name name, const struct sql_value *values, struct err *err)
{
	sqlite3_stmt *stmt = stmt_take(store, name, err);
	int code = SQLITE_OK;

	for (int at = 1; stmt && code == SQLITE_OK && values->type != SQL_END; at++)
		code = stmt_bind(stmt, at, values++);
	if (code == SQLITE_OK)
		return stmt;
	(void)db_failed(store, code, err);
	return NULL;
}

int stmt_run(
	struct store *store, enum stmt_name name, const struct sql_value *values, struct err *err)
{
	return stmt_step(store, stmt_with(store, name, values, err), err);
}

int stmt_step(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
	int code;

	if (!stmt)
		return -1;
	code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		return 1;
	if (code == SQLITE_DONE) {
		(void)sqlite3_reset(stmt);
		return 0;
	}
	(void)db_failed(store, code, err);
	(void)sqlite3_reset(stmt);
	return -1;
}

void stmt_leave(sqlite3_stmt *stmt)
{
	(void)sqlite3_reset(stmt);
}

sqlite3_stmt *stmt_take_for(
	struct store *store, enum stmt_name name, int64_t number, struct err *err)
{
	return stmt_with(store, name, SQL_VALUES(sql_int(number)), err);
}

int stmt_number(struct store *store, enum stmt_name name, const struct sql_value *values,
	int64_t *ret_number, struct err *err)
{
	auto_of(stmt_leave) sqlite3_stmt *row = stmt_with(store, name, values, err);
	int r = stmt_step(store, row, err);

	if (r > 0)
		*ret_number = sqlite3_column_int64(row, 0);
	return r;
}

int stmt_run_for(struct store *store, enum stmt_name name, int64_t number, struct err *err)
{
	return stmt_run(store, name, SQL_VALUES(sql_int(number)), err);
}

int stmt_has_row(struct store *store, enum stmt_name name, int64_t number, struct err *err)
{
	int64_t ignored;

	return stmt_number(store, name, SQL_VALUES(sql_int(number)), &ignored, err);
}

int stmt_next_key(struct store *store, enum stmt_name name, int64_t *key, struct err *err)
{
	return stmt_number(store, name, SQL_VALUES(sql_int(*key)), key, err);
}
