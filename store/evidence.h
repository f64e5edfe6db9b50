/*
 * What the chain covers: every column of every table, once.  From these rows come the canonical
 * form of a record (canon.h), what verification reads, and the test that fails when a column stands
 * in no row.
 *
 * A column is evidence, or it is derived: then it can be made anew from the evidence, or says
 * nothing about a run, and its row tells why.  verify_tables.c holds it against the evidence where that
 * can be done.
 *
 * To add a column: a row with the next tag of its table, which is never used for another one again.
 * NULLs are left out of the canonical form, so a column that is NULL in what is old changes no old
 * digest; with another default it would.  To add a table: a row in `tables` too, and when its rows
 * are records of their own (not part of a run), an enum chain_kind and chain_add() when one has
 * been written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/chain.h"

enum evidence_form {
	EVIDENCE_SUBJECT, /* says which record this is: the link has it */
	EVIDENCE_PLAIN,   /* the value */
	EVIDENCE_CONTENT, /* bytes, here or as a blob; their digest, so that they can be pruned */
	EVIDENCE_DERIVED, /* and verification finds a change */
	EVIDENCE_LOOSE,   /* derived, and it does not */
};

struct evidence {
	const char *table;
	const char *column; /* "*": all of them */
	uint8_t tag;        /* in the canonical form */
	enum evidence_form form;
	bool early;      /* known when a run begins, and never changed after */
	const char *why; /* it is derived */
};

/* A table that has parts of records. */
struct evidence_table {
	const char *name;
	uint8_t number;        /* in the canonical form; never used for another table again */
	enum chain_kind owner; /* whose records its rows are part of */
	bool is_root;          /* and is its row the record itself? */
	const char *by;        /* the column that says of which one */
	const char *order;     /* of several rows */
};

#define EVIDENCE_TABLES_MAX  24
#define EVIDENCE_COLUMNS_MAX 48 /* of one table */

/* Rows until table or name is NULL; those of one table stand together. */
extern const struct evidence evidence[];
extern const struct evidence_table evidence_tables[];

/* NULL: this column is in no row. */
const struct evidence *evidence_find(const char *table, const char *column);
