/*
 * Writes the index of words (store/base/texts.h), in the transaction that is open.
 *
 * The run index adds the texts of a run, so no client waits for it.  The index holds words and
 * places but no text, so a text can be removed only while its bytes are still in the store.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "store/base/texts.h"

struct word_index {
	bool has_removed; /* texts, whose words are still in the file */
	bool is_merging;  /* and the file is being rewritten */
};

/* Adds the texts of the run. */
int word_index_add(struct store *store, int64_t key, const struct texts *texts, struct err *err);

/*
 * Removes the texts of the run, before its contents are removed or changed.  A text that other runs
 * hold stays.  A run that is not there has no texts.
 */
int word_index_remove(struct store *store, struct word_index *index, int64_t key, struct err *err);

/*
 * FTS5 only notes that a text was removed; its words leave the file when the parts that hold them
 * are rewritten.  _purge() rewrites a piece, and _has_work() tells whether any are left.
 */
bool word_index_has_work(const struct word_index *index);
int word_index_purge(struct store *store, struct word_index *index, struct err *err);
