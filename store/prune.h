/*
 * Contents that are taken away, for age or for room, so that the chain still verifies: the columns
 * become NULL, blobs that nobody else holds go, and the row in `pruned` keeps length and SHA-256 of
 * each content.  The canonical form (canon.h) takes those where the content was.
 *
 * `digests` has 46 bytes for each content, in the order of the form: number of the table (1 byte),
 * number of the row (4, lowest first), tag of the column (1), length (8, lowest first), SHA-256 (32).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct store;
struct canon_cell;

/* What one run left, being read from front to back. */
struct pruned {
	uint8_t *bytes; /* the store's; NULL: nothing was pruned */
	size_t len;
	size_t at;
};

void pruned_init(struct pruned *pruned);

/* What was left of the run with this key, if anything; the store's until it reads another. */
int pruned_read(struct store *store, int64_t key, struct pruned *ret_pruned, struct err *err);

/* Length and digest (CANON_CONTENT_LEN bytes) of the content that stood there; NULL: none was taken. */
const uint8_t *pruned_next(struct pruned *pruned, const struct canon_cell *cell);
