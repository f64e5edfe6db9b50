/*
 * Maintenance of a store while it is used: long work on a connection of its own, in pieces, so
 * that neither the writer nor readers wait for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "proto/digest.h"
#include "store/store.h"

struct store_findings {
	uint64_t tables; /* looked at */
	uint64_t damages;
	char first[256]; /* the first of them, as SQLite reports it */
};

/*
 * PRAGMA integrity_check, one table after the other. 0: all tables were checked, with the result
 * in *ret_findings; -1: *stop became true (ERR_CLOSED), or a read failed. A page that cannot be
 * read is a finding.
 */
int store_check(struct store *store, const atomic_bool *stop, struct store_findings *ret_findings,
	struct err *err);

/* ---- export ---------------------------------------------------------- */

struct store_export {
	int64_t since_wall_us, until_wall_us; /* 0: open; by the time in the run's id */
	const char *after_run_id;             /* the last run of the page before, or NULL */
	uint32_t limit;                       /* 1..1000 */
	uint64_t page_bytes;                  /* a page ends when it has so much */
	uint64_t stream_bytes;                /* of each stream, input and artifact */
	bool without_contents;                /* without programs, inputs and outputs */
	bool counts;                          /* also count the runs that follow */
};

/* -> {records: [as store_get()], more, next?, left?}, the oldest first. */
int store_export(struct store *store, const struct store_export *what, struct arena *arena,
	struct value **ret_page, struct err *err);

/* ---- a copy --------------------------------------------------------------------------------- */

struct store_backup {
	int fd; /* of the unlinked copy: closing it deletes the copy */
	int64_t bytes;
	char sha256[DIGEST_TEXT_LEN + 1];
};

/*
 * Copies a snapshot of the store into a file at `path`, without blocking the writer, and unlinks
 * it. ERR_FULL when the copy would leave too little space for the store.
 */
int store_backup(struct store *store, const char *path, const atomic_bool *stop,
	struct store_backup *ret_backup, struct err *err);

/* ---- retention ------------------------------------------------------------------------- */

#define STORE_PIECE_MAX 100 /* runs that are pruned together */

/* How long contents are kept; 0: no limit. */
struct store_keep {
	int64_t before_wall_us; /* contents of runs before this moment are removed */
	uint64_t runs;          /* contents of so many of the newest runs are kept */
	uint64_t bytes; /* contents of the oldest are removed until no more than this is used */
};

/* Runs that have ended and still have their contents, from the oldest up to `to`. */
struct store_plan {
	uint64_t runs, bytes; /* their number, and about how many bytes they would free */
	uint64_t used_bytes;  /* of the store, when the plan was made */
	char until[RUN_ID_LEN + 1];
	struct store_damage unreadable; /* runs that cannot be read and are left out */
	int64_t at, to;                 /* for the store only */
};

/* Uses a reader: finds the runs to prune.  ERR_CLOSED when *stop became true. */
int store_plan(struct store *store, const struct store_keep *keep, const atomic_bool *stop,
	struct store_plan *ret_plan, struct err *err);

/* The next of them, at most STORE_PIECE_MAX; *ret_count 0: there are no more. */
int store_plan_next(struct store *store, struct store_plan *plan, char (*ret_ids)[RUN_ID_LEN + 1],
	unsigned most, unsigned *ret_count, struct err *err);

/* By the writer, in a transaction, before runs are pruned: indexes some of the unindexed runs. */
int store_settle(struct store *store, bool *ret_more, struct err *err);

/* By the writer, in a transaction: returns at most so many free pages to the disk. */
int store_shrink(struct store *store, unsigned pages, bool *ret_more, struct err *err);

struct store_size {
	uint64_t file_bytes;
	uint64_t used_bytes; /* of it; the rest is free */
};

int store_sizes(struct store *store, struct store_size *ret_size, struct err *err);
