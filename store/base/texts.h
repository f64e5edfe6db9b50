/*
 * The texts of a run that are found by their words: its program and the beginnings of its output.
 *
 * store/write/word_index.h indexes each text once.  store/read/word_search.h searches the index,
 * and the texts of runs that are not indexed yet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

struct store;

#define TEXTS_OF_A_RUN 3                  /* code, stdout, stderr */
#define TEXT_BYTES_MAX ((size_t)64 << 10) /* of each are indexed */
#define TEXT_DAMAGED   0                  /* in `run_texts`: a text that could not be read */

/* The part of these bytes that is indexed: nothing of bytes that are not text. */
struct bytes text_indexed(struct bytes bytes);

struct texts {
	struct bytes bytes[TEXTS_OF_A_RUN]; /* empty for a damaged text */
	unsigned damaged;                   /* a bit for each damaged text ... */
	struct err why;                     /* ... and the reason of the last one that was read */
	bool ends_transaction; /* SQLite reported the damage, so the transaction cannot go on */
};

/*
 * Reads the texts of a run into the arena; 1: there is no such run.  `without` is a set of bits:
 * these texts are known to be damaged and are not read.
 */
int texts_read(struct store *store, int64_t key, unsigned without, struct arena *arena,
	struct texts *ret_texts, struct err *err);
