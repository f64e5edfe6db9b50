/*
 * What a run's record needs beside itself, written when nobody waits for it: the facets that lists
 * filter by, the words of its texts (texts.h), and the counts of the blobs it holds.  Until then the run stands in `pending`, and
 * lists look there too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct store;

/*
 * Settles at most `most` runs that have ended, in the transaction that is open, and stops early when
 * their texts alone were `bytes_max` bytes.  After -1 that has to be rolled back.
 *
 * What is damaged stops nobody: a run of which a text cannot be read settles without its words, and one
 * whose rows cannot be read, or that is more than memory holds, is given up: it stays in `pending`, and
 * is not tried again before the store is opened the next time.  Both are noted.
 *
 * Where SQLite says that something failed this answers -1, since the transaction can write nothing more
 * then; the next call does without.  Until settle_judge() the run is only suspected: the whole disk may
 * have failed.
 */
int settle_runs(struct store *store, unsigned most, size_t bytes_max, unsigned *ret_settled,
	struct err *err);

/* This one, when it waits and has ended, without its words: its contents leave in this transaction. */
int settle_to_leave(struct store *store, int64_t key, struct err *err);

/* Something of this run cannot be read: store_take_damage() tells it. */
void settle_note(struct store *store, int64_t key, const struct err *why);

/*
 * Something was written and is on the disk: then what failed was about the suspected runs alone, and they
 * are given up.  Or that failed too: then they have done nothing, and are tried again.
 */
void settle_judge(struct store *store, bool is_well);

/* So many fewer wait to be settled; never less than none. */
void settle_count(struct store *store, unsigned settled);

/* The facets' numbers in the table of that name. */
enum facet {
	FACET_NONE = 0,
	FACET_OUTCOME = 1,
	FACET_LANGUAGE = 2,
	FACET_UID = 3,
	FACET_AGENT = 4,
	FACET_TASK = 5,
	FACET_CODE_HASH = 6,
	FACET_POLICY = 7,
	FACET_RULE = 8, /* of a finding: a run may have several */
};
