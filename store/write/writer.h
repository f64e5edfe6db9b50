/*
 * The writer: what store->writer holds beside the open database.
 *
 * store_open(STORE_WRITE) makes it and store_close() ends it.  Between store_begin() and
 * store_commit() one transaction is open.  Everything in store/write/ writes in that transaction.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/base/chain.h"
#include "store/base/db.h"
#include "store/write/disk_space.h"
#include "store/write/file_watch.h"
#include "store/write/progress_mark.h"
#include "store/write/run_index.h"
#include "store/write/run_json.h"
#include "store/write/word_index.h"

struct writer {
	int lock_fd; /* the lock on the state folder, or -1 */
	struct file_watch watch;
	struct disk_space space;
	struct progress_mark mark;
	struct run_index index;
	struct word_index words;
	struct run_json json;

	/* the transaction */
	bool in_transaction;
	bool failed;                       /* a record of it failed: only rollback is left */
	unsigned ended;                    /* runs that it ends */
	struct chain_head chain;           /* the last link, with those of this transaction ... */
	struct chain_head committed_chain; /* ... and without */
	char last_run[RUN_ID_LEN +
		      1]; /* the last run that was written, with this transaction ... */
	char committed_run[RUN_ID_LEN + 1]; /* ... and without */

	/* the write-ahead log */
	int log_pages;             /* since it was last moved into the database */
	int64_t log_frames;        /* since all of it was in the database */
	int64_t log_limit;         /* in bytes; 0: none */
	struct store_long_log log; /* as of the last look, when a reader keeps it long */
	bool log_is_refusing;      /* runs, as of the last look */
	bool is_shrunk;            /* the file is cut when the log is moved */
	bool is_rescued; /* files are gone, and the log was moved into the database since */

	int64_t cached_count; /* rows of `cached`; -1: not counted */
	uint64_t lost;        /* runs that the start marked as lost */
	uint64_t newest_ms;   /* the time in the id of the newest run at the start */
};

/* Moves the log into the database, as far as no reader needs it; outside a transaction. */
int writer_move_log(struct store *store, struct err *err);

/* Notes a failure in the transaction; only rollback is left.  Returns -1. */
int writer_failed(struct store *store);
