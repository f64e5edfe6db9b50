/*
 * The canonical form of a record, over which its digest in the chain is made.  The form is made
 * from the rows in the tables, by the list in chain_columns.c.
 *
 *	"ced record 1\n" kind subject           numbers in eight bytes, lowest first
 *	for each row of its tables, in order:
 *		0 number of the table           a byte each
 *		for each column that is not NULL: tag type value
 *
 * An integer is type 1 and eight bytes.  Text is type 3, bytes are type 4, anything else is type 2:
 * the length in eight bytes, then the bytes.  A content is type 5: its length in eight bytes, then
 * its SHA-256, whether it lies in the row, in a blob, or was pruned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"
#include "proto/digest.h"
#include "store/base/chain.h"
#include "store/base/chain_columns.h"

struct store;

/* A table of chain_columns.c with its statement. */
struct canonical_table {
	sqlite3_stmt *stmt;
	const struct chain_column *columns[CHAIN_COLUMNS_MAX];
	unsigned count;
	bool is_early; /* it has a column that is known when a run begins */
};

/*
 * Statements and buffers, store->canonical; NULL: no memory.  Free them before the database is
 * closed.
 */
struct canonical *canonical_new(void);
void canonical_free(struct canonical *canonical); /* accepts NULL */

/*
 * The digest of the record as it stands in the store.  1: there is none.  `is_new`: it has just
 * been written, so nothing of it can have been pruned.
 */
int canonical_digest(struct store *store, enum chain_kind kind, int64_t subject, bool is_new,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/*
 * Whether the record stands in the store as its newest link has it: 1, 0, -1.  Not for CHAIN_RUN.
 */
int canonical_is_linked(
	struct store *store, enum chain_kind kind, int64_t subject, struct err *err);

/*
 * The table's statement, ready to find the rows of that subject; NULL with *err.  Belongs to the
 * store.
 */
struct canonical_table *canonical_rows(
	struct store *store, const struct chain_table *table, int64_t subject, struct err *err);
