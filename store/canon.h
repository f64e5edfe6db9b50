/*
 * The canonical form of a record: what of it the chain's digest is over.  It is made of what stands
 * in the tables, not of what somebody meant to write there, by the one table in evidence.c.
 *
 *	"ced record 1\n" kind subject           numbers in eight bytes, lowest first
 *	for each row of its tables, in order:
 *		0 number of the table           a byte each
 *		for each column that is not NULL: tag type value
 *
 * An integer is type 1 and eight bytes.  Text is type 3, bytes are type 4, anything else type 2: the
 * length in eight bytes, then the bytes.  A content is type 5: its length in eight bytes, then its
 * SHA-256, whether it lies in the row, in a blob, or was pruned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "proto/base/err.h"
#include "proto/digest.h"
#include "store/chain.h"
#include "store/evidence.h"

struct store;

/* A table as the form wants it; kept by the store from its first use on. */
struct canon_table {
	sqlite3_stmt *stmt;
	const struct evidence *columns[EVIDENCE_COLUMNS_MAX];
	unsigned count;
	bool is_early; /* has a column that is known when a run begins */
};

/* One value of a record: a column of the row at hand. */
struct canon_cell {
	const struct evidence_table *table;
	uint32_t number; /* of the row, counted from 0 */
	const struct evidence *column;
	sqlite3_stmt *row;
	int at; /* of the column, in the statement */
};

/*
 * The digest of the record as it stands in the store.  1: there is none.  `is_new`: it has just been
 * written, so nothing of it can have been pruned.
 */
int canon_digest(struct store *store, enum chain_kind kind, int64_t subject, bool is_new,
	uint8_t ret_digest[DIGEST_LEN], struct err *err);

/* Length and SHA-256 of a content in eight and 32 bytes, as the form has them. */
#define CANON_CONTENT_LEN (8 + DIGEST_LEN)

/* The table's statement, ready to find the rows of that subject; NULL with *err.  The store's. */
struct canon_table *canon_rows(
	struct store *store, const struct evidence_table *table, int64_t subject, struct err *err);

/* Gives the statements back; before the database is closed. */
void canon_close(struct store *store);
