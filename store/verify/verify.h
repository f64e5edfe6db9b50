/*
 * Verification: the parts of it, and the report that they write into.
 *
 * A part looks at one moment of the store and never writes.  What it cannot read it reports as a
 * problem and goes on: somebody who breaks one record does not hide another.
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
	int64_t checked; /* of what has numbers */
	int64_t found;
};

/* Looks at what is numbered from..., count of it; sets next, of and checked. */
int verify_chain(struct verify *verify, struct err *err);
int verify_blobs(struct verify *verify, struct err *err);
int verify_tables(struct verify *verify, struct err *err);
int verify_checkpoints(struct verify *verify, struct err *err);
int verify_second(struct verify *verify, struct err *err);

/*
 * One problem.  `what` is a stable word: changed, missing, extra, moved, unsigned, unreadable.  The returned map
 * may get more keys; it goes nowhere when the list is full.
 */
struct fill verify_problem(struct verify *verify, const char *what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A question to the database: each row of its answer is a problem, as table, row, what is wrong there. */
int verify_ask(struct verify *verify, const char *what, const char *sql, struct err *err);

/* For such questions: whether a run is running or not yet indexed, and whether `r`, of runs, has ended and is. */
#define VERIFY_PENDING(key) "EXISTS (SELECT 1 FROM pending AS p WHERE p.key = " key ")"
#define VERIFY_SETTLED      "r.outcome IS NOT NULL AND NOT " VERIFY_PENDING("r.key")

/* What a link is about, as keys of a problem: kind, and run_id or subject. */
void verify_subject(struct verify *verify, struct fill *problem, int64_t kind, int64_t subject);

/* What lists filter by against the runs; a check of verify_tables(). */
int facets_check(struct verify *verify, struct err *err);

int blob_refs_check(struct verify *verify, struct err *err);

/* Which texts a run holds (texts.h) against its contents; a check of verify_tables(). */
int texts_check(struct verify *verify, struct err *err);
