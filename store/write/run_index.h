/*
 * Indexes runs that have ended, when no client waits: the facets by which lists filter, the words
 * of their texts, and the number of runs that hold each blob.  A run that is not indexed yet is
 * called unsettled.  It stands in the table `pending`, where lists look for it too.
 *
 * Damage stops nothing.  A run with an unreadable text is indexed without its words.  A run whose
 * rows cannot be read, or for which memory is not enough, stays in `pending` and is not tried again
 * before the next start.  Both are noted in `damage`.
 *
 * When SQLite reports a failure, the transaction cannot go on and run_index_some() returns -1; the
 * next call leaves the run out.  Until run_index_judge() the run is only suspected, because the
 * whole disk may have failed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "store/store.h"

#define UNREADABLE_MAX 1024 /* from here on, further unreadable runs stop the indexing */

/* A run that cannot be read completely. */
struct unreadable_run {
	int64_t key;
	unsigned texts;    /* a bit for each text that is left out ... */
	bool is_given_up;  /* ... or the run is not indexed at all */
	bool is_suspected; /* the disk may have failed, and not the run */
};

struct run_index {
	uint64_t waiting; /* runs that have ended and are not indexed, as far as the writer knows */
	bool goes_on;     /* in the middle of many runs */
	unsigned pause;   /* transactions to come that index no runs */
	struct unreadable_run unreadable[UNREADABLE_MAX];
	size_t unreadable_count;
	struct store_damage damage;    /* for store_take_damage() */
	struct store_damage suspicion; /* runs that failed since the last write that succeeded */
};

/*
 * Indexes at most `most` runs that have ended, in the transaction that is open; stops when their
 * texts together have more than `bytes_max` bytes.  After -1 the transaction has to be rolled back.
 */
int run_index_some(struct store *store, struct run_index *index, unsigned most, size_t bytes_max,
	unsigned *ret_done, struct err *err);

/*
 * This run, if it waits and has ended, without its words, since its contents leave in this
 * transaction.
 */
int run_index_without_words(
	struct store *store, struct run_index *index, int64_t key, struct err *err);

/*
 * Something was written to the disk (`is_well`): then the suspected runs are damaged, and are given
 * up.  Or that failed as well: then they are tried again.
 */
void run_index_judge(struct run_index *index, bool is_well);

/* So many fewer wait. */
void run_index_count(struct run_index *index, unsigned done);
