/*
 * The columns that the chain covers, for the canonical form of a record (canonical.h), verification
 * and pruning.
 *
 * A column is evidence and stands here, or it names the record (`by` in chain_tables), or it is
 * derived: then it can be made again from the evidence, or it says nothing about a run.
 * unit.store_verify lists the derived columns with their reasons, and fails when a column stands
 * nowhere.
 *
 * To add a column of evidence, add a row with the next tag of its table.  A tag is never used for
 * another column again.  The canonical form leaves out NULLs, so a column that is NULL in old rows
 * changes no old digest; a column with another default would.  To add a table, add a row to
 * `chain_tables`, too.  When its rows are records of their own and not part of a run, add an enum
 * chain_kind and call chain_add() when one has been written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/chain.h"

enum column_cover {
	COLUMN_PLAIN,   /* the value */
	COLUMN_CONTENT, /* the digest of bytes, here or in a blob, which can be pruned */
};

struct chain_column {
	const char *table;
	const char *column;
	uint8_t tag; /* in the canonical form */
	enum column_cover cover;
	bool early; /* known when a run begins, and not changed after that */
};

/* A table whose rows are parts of records. */
struct chain_table {
	const char *name;
	uint8_t number;        /* in the canonical form; never used for another table again */
	enum chain_kind owner; /* its rows are parts of records of this kind */
	bool is_root;          /* its row is the record itself */
	const char *by;        /* the column that names the record */
	const char *order;     /* of several rows of one record */
};

#define CHAIN_TABLES_MAX  24
#define CHAIN_COLUMNS_MAX 48 /* of one table */

/* Both end with a row whose name is NULL.  The columns of one table stand together. */
extern const struct chain_column chain_columns[];
extern const struct chain_table chain_tables[];
