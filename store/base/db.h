/*
 * The open database: the struct behind store.h, and the calls with which the other rooms of store/
 * use SQLite.
 *
 * A reader has all of its state here.  A writer has more, in store/write/writer.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "store/base/wal_file.h"
#include "store/store.h"

struct store {
	sqlite3 *db;
	enum store_mode mode;
	char *path;                  /* of the database */
	struct wal_file *wal;        /* a writer's; else NULL */
	int64_t schema;              /* of the database */
	int64_t patience_ms;         /* how long one question may take; 0: no limit */
	int64_t deadline_ms;         /* of the question that is being answered; 0: none */
	sqlite3_stmt **stmts;        /* stmt.c */
	struct canonical *canonical; /* canonical.c */
	struct writer *writer;       /* store/write/writer.h; NULL: a reader */
};

/* Opens the file `name`, or a URI with SQLITE_OPEN_URI, with the VFS of this name. */
int db_open(struct store *store, const char *name, const char *vfs, int flags, struct err *err);

/* Sets the limits and pragmas of a connection that has just been opened. */
int db_configure(struct store *store, struct err *err);

/* Fills *err with what SQLite says about its last call, which returned `code`.  Returns -1. */
int db_failed(struct store *store, int code, struct err *err);

/*
 * Between these two calls one question is answered, which may take store->patience_ms.  A statement
 * that takes longer fails with ERR_TIMEOUT.  A loop of our own calls db_is_late().
 */
void db_question(struct store *store);
void db_answered(struct store *store);
int db_is_late(struct store *store, struct err *err);

/* Compiles SQL for one use; NULL with *err.  Freed with db_finish(), which accepts NULL. */
sqlite3_stmt *db_prepare(struct store *store, const char *sql, struct err *err);
void db_finish(sqlite3_stmt *stmt);
AUTO_DEFINE(sqlite3_stmt, db_finish);

/* Runs SQL without results. */
int db_exec(struct store *store, const char *sql, struct err *err);

/* The first column of the first row; `otherwise` when there is no row. */
int db_number(struct store *store, const char *sql, int64_t otherwise, int64_t *ret_number,
	struct err *err);

/* Length of the database in bytes, as its header has it. */
int db_bytes(struct store *store, int64_t *ret_bytes, struct err *err);

/*
 * A read transaction, so that several statements see the same state of the database.  *ret_began is
 * false when a transaction was open already; then db_end_snapshot() leaves it open.
 */
int db_begin_snapshot(struct store *store, bool *ret_began, struct err *err);
void db_end_snapshot(struct store *store, bool began);

/* The key of a run; -1 when `run_id` is not a ULID. */
int64_t db_key_of(const char *run_id);
/* The smallest key of a millisecond. */
int64_t db_key_at_ms(uint64_t ms);
/* The millisecond of a key. */
int64_t db_ms_of_key(int64_t key);
