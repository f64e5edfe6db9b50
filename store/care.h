/*
 * What keeps a store well while it is used: long work, done on a connection of its own and in
 * pieces, so that neither the writer nor the readers wait for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "store/store.h"

struct store_findings {
	uint64_t tables; /* looked at */
	uint64_t damages;
	char first[256]; /* of them, in SQLite's words */
};

/*
 * PRAGMA integrity_check, table after table, each seen as of one moment.  0: it came to its end, and
 * *ret_findings says what it found; -1: it did not, because *stop became true (ERR_CLOSED) or
 * because it could not read.  A page that cannot be read is a finding.
 */
int store_check(struct store *store, const atomic_bool *stop, struct store_findings *ret_findings,
	struct err *err);
