/*
 * What keeps a store well while it is used: long work, done on a connection of its own and in
 * pieces, so that neither the writer nor the readers wait for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "proto/digest.h"
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

/* ---- everything, from front to end ---------------------------------------------------------- */

struct store_export {
	int64_t since_wall_us, until_wall_us; /* 0: open; by the time in the run's id */
	const char *after_run_id;             /* where the last page ended, or NULL */
	uint32_t limit;                       /* 1..1000 */
	uint64_t page_bytes;                  /* a page that has so much gets no more records */
	uint64_t stream_bytes;                /* of each stream, input and artifact */
	bool without_contents;                /* what was run, read and written is left out */
	bool counts;                          /* say how many runs there are from here on */
};

/* -> {records: [as store_get()], more, next?, left?}, the oldest first. */
int store_export(struct store *store, const struct store_export *what, struct arena *arena,
	struct value **ret_page, struct err *err);

/* ---- a copy --------------------------------------------------------------------------------- */

struct store_backup {
	int fd; /* of the copy, which has no name any more: closing it is its end */
	int64_t bytes;
	char sha256[DIGEST_TEXT_LEN + 1];
};

/*
 * Copies the store as of one moment into a file at `path`, which others who write are not held up by,
 * and takes its name away.  ERR_FULL when a copy would leave too little room for the store itself.
 */
int store_backup(struct store *store, const char *path, const atomic_bool *stop,
	struct store_backup *ret_backup, struct err *err);

/* ---- what may leave ------------------------------------------------------------------------- */

#define STORE_PIECE_MAX 100 /* runs that leave together */

/* For how long contents stay; 0: for ever, without end. */
struct store_keep {
	int64_t before_wall_us; /* of runs before this moment they go; before 1970 nothing ran */
	uint64_t runs;          /* of so many of the newest runs they stay */
	uint64_t bytes;         /* of the oldest they go until what is used is no more than that */
};

/* Runs that have ended and still have their contents, from the oldest up to `to`. */
struct store_plan {
	uint64_t runs, bytes; /* how many, and what would be free then, about */
	uint64_t used_bytes;  /* of the store, when the plan was made */
	char until[RUN_ID_LEN + 1];
	struct store_damage unreadable; /* runs that the plan does without */
	int64_t at, to;                 /* the store's */
};

/* On a reader: what would have to leave.  ERR_CLOSED when *stop became true. */
int store_plan(struct store *store, const struct store_keep *keep, const atomic_bool *stop,
	struct store_plan *ret_plan, struct err *err);

/* The next of them, at most STORE_PIECE_MAX; *ret_count 0: there are no more. */
int store_plan_next(struct store *store, struct store_plan *plan, char (*ret_ids)[RUN_ID_LEN + 1],
	unsigned most, unsigned *ret_count, struct err *err);

/*
 * By the writer, in a transaction, before runs leave: settles some of those that wait for it (settle.h),
 * as much as others may wait for.
 */
int store_settle(struct store *store, bool *ret_more, struct err *err);

/* By the writer, in a transaction: gives up to so many free pages back to the disk. */
int store_shrink(struct store *store, unsigned pages, bool *ret_more, struct err *err);

struct store_size {
	uint64_t file_bytes;
	uint64_t used_bytes; /* of it, the rest is free for what comes */
};

int store_sizes(struct store *store, struct store_size *ret_size, struct err *err);
