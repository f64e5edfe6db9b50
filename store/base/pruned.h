/*
 * A run keeps length and SHA-256 of its pruned contents, in a row of the table `pruned`.  The
 * canonical form (canonical.h) uses them in place of the contents.
 *
 * The column `digests` has 46 bytes for each content, in the order of the form: number of the
 * table (1 byte), number of the row (4, lowest first), tag of the column (1), length (8, lowest
 * first), SHA-256 (32).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/digest.h"

struct store;

#define PRUNED_PLACE_LEN   6 /* table, row, tag */
#define PRUNED_CONTENT_LEN (8 + DIGEST_LEN)
#define PRUNED_ENTRY_LEN   (PRUNED_PLACE_LEN + PRUNED_CONTENT_LEN)

/* The entries of one run, read from front to back.  All zeroes: none. */
struct pruned {
	const uint8_t *bytes;
	size_t len;
	size_t at;
};

/* Reads the entries of the run with this key, if it has any, into `room`. */
int pruned_read(struct store *store, int64_t key, struct buf *room, struct pruned *ret_pruned,
	struct err *err);

/*
 * Length and digest (PRUNED_CONTENT_LEN bytes) of the content that stood there; NULL: none was
 * pruned.
 */
const uint8_t *pruned_next(struct pruned *pruned, uint8_t table, uint32_t row, uint8_t tag);

/* Writes an entry without its digest, which comes last. */
void pruned_put_entry(
	uint8_t entry[PRUNED_ENTRY_LEN], uint8_t table, uint32_t row, uint8_t tag, uint64_t bytes);

/* A number in `len` bytes, lowest first. */
void pruned_put_number(uint8_t *bytes, uint64_t number, unsigned len);
