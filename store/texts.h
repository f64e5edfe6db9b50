/*
 * The index of words: a run's program and the beginnings of what it wrote, each text once.
 *
 * Fed by settle_runs(), so that no client waits for it; search.h asks it, and looks itself at the
 * runs that have not settled.  The index holds words and places but no text, so a text can be taken
 * out only while its bytes are still there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

struct store;

#define TEXTS_OF_A_RUN 3 /* code, stdout, stderr */
#define TEXT_BYTES_MAX \
	((size_t)64 << 10) /* of each: what stands behind is not found by its words */

/* What of these bytes is indexed; nothing of what is no text. */
struct bytes text_indexed(struct bytes bytes);

/* The texts of a run. */
struct texts {
	struct bytes bytes[TEXTS_OF_A_RUN]; /* of one that is damaged, nothing */
	unsigned damaged;                   /* a bit for each that is ... */
	struct err why;                     /* ... and why the last one that was read is */
	bool spoilt; /* by SQLite's word, after which the transaction is good for nothing more */
};

/*
 * The bytes of a run that are indexed, in the arena; 1: there is no such run.  Those in `without` (a
 * set of bits) are known to be damaged and are not read.
 */
int texts_read(struct store *store, int64_t key, unsigned without, struct arena *arena,
	struct texts *ret_texts, struct err *err);

/* Adds the run's texts, in the transaction that is open. */
#define TEXT_DAMAGED 0 /* stands in `run_texts` for one that could not be read */
int texts_add(struct store *store, int64_t key, const struct texts *texts, struct err *err);

/*
 * Takes them out again, in the transaction that is about to remove or change the run's contents,
 * before it does so.  Texts that other runs hold stay for those.  A run that is not there is none.
 */
int texts_forget(struct store *store, int64_t key, struct err *err);

/*
 * The index only notes that a text has left; its words leave when the parts that hold them are
 * written anew.  Does a piece of that, in the transaction that is open: 1 when there is more to do.
 */
int texts_purge(struct store *store, struct err *err);
