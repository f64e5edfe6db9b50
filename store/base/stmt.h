/*
 * The fixed statements, in one table.  Each is prepared at its first use and kept until the store
 * is closed.  Statements whose text depends on a filter are made in store/read/run_walk.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/digest.h"

struct store;

enum stmt_name {
#define STATEMENT(name, sql) name,
#include "store/base/statements.h"
#undef STATEMENT
	STMT_COUNT,
};

/*
 * Allocates the table of prepared statements, store->stmts; NULL: no memory.  _free() accepts NULL.
 */
sqlite3_stmt **stmt_table_new(void);
void stmt_table_free(sqlite3_stmt **stmts);

/* A value of a statement.  Whatever it points to is borrowed until the statement has run. */
struct sql_value {
	enum {
		SQL_END, /* of a list */
		SQL_NULL,
		SQL_INT,
		SQL_TEXT,
		SQL_CUT,   /* TEXT that may end inside a character */
		SQL_WORDS, /* TEXT when the bytes are UTF-8, else BLOB */
		SQL_BLOB,
		SQL_HASH, /* of "sha256:…" the 32 bytes; NULL when the text is something else */
		SQL_COPY, /* a sqlite3_value */
	} type;
	int64_t number;
	const void *bytes;
	size_t len;
};

/* A list of values, in the order of the parameters. */
#define SQL_VALUES(...) ((const struct sql_value[]){ __VA_ARGS__, { .type = SQL_END } })

static inline struct sql_value sql_int(int64_t number)
{
	return (struct sql_value){ .type = SQL_INT, .number = number };
}

/* NULL gives NULL. */
static inline struct sql_value sql_text(const char *text)
{
	return (struct sql_value){ .type = SQL_TEXT, .bytes = text };
}

static inline struct sql_value sql_words(const char *bytes, size_t len)
{
	return (struct sql_value){ .type = SQL_WORDS, .bytes = bytes, .len = len };
}

static inline struct sql_value sql_blob(const void *bytes, size_t len)
{
	return (struct sql_value){ .type = SQL_BLOB, .bytes = bytes, .len = len };
}

/* DIGEST_LEN bytes; NULL gives NULL. */
static inline struct sql_value sql_digest(const uint8_t *digest)
{
	return (struct sql_value){ digest ? SQL_BLOB : SQL_NULL, 0, digest, DIGEST_LEN };
}

static inline struct sql_value sql_hash(const char *text)
{
	return (struct sql_value){ .type = SQL_HASH, .bytes = text };
}

/* Binds one value; returns what SQLite returned. */
int stmt_bind(sqlite3_stmt *stmt, int at, const struct sql_value *value);

/* The statement, reset and without values; NULL with *err.  Belongs to the store. */
sqlite3_stmt *stmt_take(struct store *store, enum stmt_name name, struct err *err);

/* The same with these values, or with a number as its only value. */
sqlite3_stmt *stmt_with(
	struct store *store, enum stmt_name name, const struct sql_value *values, struct err *err);
sqlite3_stmt *stmt_take_for(
	struct store *store, enum stmt_name name, int64_t number, struct err *err);

/* Runs a statement without rows. */
int stmt_run(
	struct store *store, enum stmt_name name, const struct sql_value *values, struct err *err);
int stmt_run_for(struct store *store, enum stmt_name name, int64_t number, struct err *err);

/* The first column of the first row: 1 with the number, 0 there is no row, -1. */
int stmt_number(struct store *store, enum stmt_name name, const struct sql_value *values,
	int64_t *ret_number, struct err *err);

/* Finds the first key above *key and puts it there: 1 found, 0 there is none, -1. */
int stmt_next_key(struct store *store, enum stmt_name name, int64_t *key, struct err *err);

/* Whether the statement has a row for that number: 1, 0, -1. */
int stmt_has_row(struct store *store, enum stmt_name name, int64_t number, struct err *err);

/* One step of a statement with rows: 1 a row, 0 no more, -1.  NULL, whose error is in *err: -1. */
int stmt_step(struct store *store, sqlite3_stmt *stmt, struct err *err);

/*
 * Ends the reading of rows.  A statement that is left on a row keeps a read transaction open, so a
 * local that may be on a row is marked with auto_of(stmt_leave).  Accepts NULL.
 */
void stmt_leave(sqlite3_stmt *stmt);
AUTO_DEFINE(sqlite3_stmt, stmt_leave);
