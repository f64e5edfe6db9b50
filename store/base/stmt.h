/*
 * The fixed statements, in one table.  Each is prepared at its first use and kept until the store is closed.
 * Statements whose text depends on a filter are made in store/read/run_walk.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"

struct store;

enum stmt_name {
	STMT_BEGIN,
	STMT_COMMIT,
	STMT_ROLLBACK,
	STMT_KEY_FIND,
	STMT_RUN_INSERT,
	STMT_RECORD_INSERT,
	STMT_PENDING_INSERT,
	STMT_INPUT_INSERT,
	STMT_LABEL_INSERT,
	STMT_RUN_ACTION,
	STMT_RUN_END,
	STMT_RECORD_END,
	STMT_FINDING_INSERT,
	STMT_ARTIFACT_INSERT,
	STMT_BLOB_FIND,
	STMT_BLOB_INSERT,
	STMT_BLOB_DATA_INSERT,
	STMT_BLOB_READ,
	STMT_RUN_READ,
	STMT_RECORD_READ,
	STMT_INPUTS_READ,
	STMT_ARTIFACTS_READ,
	STMT_ARTIFACT_READ,
	STMT_INPUT_READ,
	STMT_PENDING_NEXT,
	STMT_SETTLE_RUN,
	STMT_SETTLE_BLOBS,
	STMT_BLOB_REF,
	STMT_FACET_INSERT,
	STMT_RULES_INSERT,
	STMT_TEXT_FIND,
	STMT_TEXT_INSERT,
	STMT_TEXT_DELETE,
	STMT_WORDS_INSERT,
	STMT_WORDS_DELETE,
	STMT_WORDS_FIND,
	STMT_WORDS_TEST,
	STMT_WORDS_MERGE,
	STMT_PENDING_NEWEST,
	STMT_MENTION_INSERT,
	STMT_MENTION_FIND,
	STMT_MENTION_DELETE,
	STMT_MENTION_BEFORE,
	STMT_RUN_TEXTS_INSERT,
	STMT_RUN_TEXTS_READ,
	STMT_RUN_TEXTS_DELETE,
	STMT_PENDING_DELETE,
	STMT_LOST_NEXT,
	STMT_LOST,
	STMT_CHAIN_END,
	STMT_CHAIN_INSERT,
	STMT_CHAIN_HEAD,
	STMT_CHAIN_WALK,
	STMT_CHAIN_FIND,
	STMT_CHECKPOINT_INSERT,
	STMT_CHECKPOINT_LAST,
	STMT_CHECKPOINT_WALK,
	STMT_BLOB_LAST,
	STMT_BLOB_WALK,
	STMT_RUN_ID,
	STMT_PENDING_HAS,
	STMT_PRUNED_READ,
	STMT_PRUNED_ACT,
	STMT_PRUNED_INSERT,
	STMT_BLOB_DIGEST,
	STMT_BLOB_UNREF,
	STMT_BLOB_UNHELD,
	STMT_BLOB_DELETE,
	STMT_BLOB_DATA_DELETE,
	STMT_ACT_INSERT,
	STMT_ACTS_READ,
	STMT_BLOCK_INSERT,
	STMT_BLOCK_DELETE,
	STMT_BLOCKS_READ,
	STMT_SPENT_READ,
	STMT_RESETS_READ,
	STMT_ACTION_PUT,
	STMT_ACTION_DELETE,
	STMT_ACTION_FIND,
	STMT_NAMED_FIND,
	STMT_ACTION_DONE,
	STMT_CACHED_PUT,
	STMT_CACHED_TRIM,
	STMT_CACHED_FIND,
	STMT_EXPORT_IDS,
	STMT_EXPORT_AFTER,
	STMT_RETENTION_NEXT,
	STMT_RECORD_NEXT,
	STMT_BLOB_SIZE,
	STMT_RETENTION_CONTENTS,
	STMT_CACHED_PRUNED,
	STMT_PARKED_INSERT,
	STMT_PARKED_DECIDE,
	STMT_PARKED_DELETE,
	STMT_PARKED_READ,
	STMT_PARKED_LIST,
	STMT_GRANT_INSERT,
	STMT_GRANTS_OVER,
	STMT_GRANT_USE,
	STMT_GRANT_DELETE,
	STMT_GRANTS_READ,
	STMT_COUNT,
};

/* Allocates the table of prepared statements, store->stmts; NULL: no memory.  _free() accepts NULL. */
sqlite3_stmt **stmt_table_new(void);
void stmt_table_free(sqlite3_stmt **stmts);

/* The statement, reset and without values; NULL with *err.  Belongs to the store. */
sqlite3_stmt *stmt_take(struct store *store, enum stmt_name name, struct err *err);

/* The same with a number as its only value. */
sqlite3_stmt *stmt_take_for(
	struct store *store, enum stmt_name name, int64_t number, struct err *err);

/* Finds the first key above *key and puts it there: 1 found, 0 there is none, -1. */
int stmt_next_key(struct store *store, enum stmt_name name, int64_t *key, struct err *err);

/* Runs a statement without rows for that number. */
int stmt_run_for(struct store *store, enum stmt_name name, int64_t number, struct err *err);

/* Whether the statement has a row for that number: 1, 0, -1. */
int stmt_has_row(struct store *store, enum stmt_name name, int64_t number, struct err *err);

/*
 * Values for one statement, in order from the first.  All are borrowed until the statement has run.  When
 * bind_start() fails, it fills *err, and bind_run() or stmt_step() on `stmt` returns -1.
 */
struct binding {
	struct store *store;
	sqlite3_stmt *stmt;
	int index;
	int code; /* of the first failure */
};

struct binding bind_start(struct store *store, enum stmt_name name, struct err *err);
void bind_null(struct binding *binding);
void bind_int(struct binding *binding, int64_t integer);
void bind_text(struct binding *binding, const char *text); /* NULL gives NULL */
void bind_blob(struct binding *binding, const void *bytes, size_t len);
/* TEXT when the bytes are UTF-8, else BLOB. */
void bind_words(struct binding *binding, const char *bytes, size_t len);
/* DIGEST_LEN bytes; NULL gives NULL. */
void bind_digest(struct binding *binding, const uint8_t *digest);
/* "sha256:…" as 32 bytes; NULL when the text is something else. */
void bind_hash(struct binding *binding, const char *text);

/* Notes what sqlite3_bind_...() returned for the next value. */
void bind_note(struct binding *binding, int code);

/* Runs a statement without rows. */
int bind_run(struct binding *binding, struct err *err);

/* One step of a statement with rows: 1 a row, 0 no more, -1.  NULL, which stmt_take() gave with *err: -1. */
int stmt_step(struct store *store, sqlite3_stmt *stmt, struct err *err);
