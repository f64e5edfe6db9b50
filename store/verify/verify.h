/*
 * Verification: the parts of it, and the report that they write into.
 *
 * A part reads one snapshot of the store and never writes. It reports an unreadable record as a
 * problem and goes on, so that one broken record does not hide another.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/fill.h"
#include "store/store.h"

#define PROBLEMS_LISTED 200 /* of one report; the rest is counted */

struct verify {
	struct store *store;
	struct arena *arena;
	const struct store_trust *trust; /* or NULL */
	struct value *problems;
	int64_t from, count;
	int64_t next;    /* 0: the part is done */
	int64_t of;      /* the highest number there is */
	int64_t checked; /* numbered items */
	int64_t found;
};

/* Each checks `count` items from number `from` on, and sets next, of and checked. */
int verify_chain(struct verify *verify, struct err *err);
int verify_blobs(struct verify *verify, struct err *err);
int verify_tables(struct verify *verify, struct err *err);
int verify_checkpoints(struct verify *verify, struct err *err);
int verify_second(struct verify *verify, struct err *err);

/*
 * One problem.  `what` is a stable word: changed, missing, extra, moved, unsigned, unreadable.  The
 * returned map may get more keys; it goes nowhere when the list is full.
 */
struct fill verify_problem(struct verify *verify, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Runs a query; each row of its result is a problem: table, row, message. */
int verify_ask(struct verify *verify, const char *what, const char *sql, struct err *err);

/*
 * For such queries: whether a run is running or not yet indexed, and whether `r`, of runs, has
 * ended and is indexed.
 */
#define VERIFY_PENDING(key) "EXISTS (SELECT 1 FROM pending AS p WHERE p.key = " key ")"
#define VERIFY_SETTLED      "r.outcome IS NOT NULL AND NOT " VERIFY_PENDING("r.key")

/* Puts the subject of a link into a problem: kind, and run_id or subject. */
void verify_subject(struct verify *verify, struct fill *problem, int64_t kind, int64_t subject);

int blob_refs_check(struct verify *verify, struct err *err);

/* Compares the texts of runs with their contents; a check of verify_tables(). */
int texts_check(struct verify *verify, struct err *err);
