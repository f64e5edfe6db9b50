/*
 * A log that cannot be emptied, because somebody reads from it.
 *
 * The log begins anew when all of it has been moved into the database and nobody reads from it.  A program
 * that keeps a read transaction open prevents both, and each record makes the log longer.  So the log has
 * a ceiling: from half of it on status and log tell who reads, and at the ceiling runs are refused until the
 * reader has ended its transaction.  Readers of this very process (a backup, a check of all pages) end by
 * themselves, so they are told and nothing is refused for them.
 *
 * Who reads is known from the locks that SQLite takes in `ced.db-shm`, as the kernel lists them.  That file
 * is never opened here: closing it again would drop all locks of this process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct held {
	int64_t most_bytes;    /* 0: no ceiling */
	int64_t frames;        /* of the log, since it was last seen to be moved as a whole */
	bool refuses;          /* runs, as of the last look */
	struct store_held now; /* the same */
};
