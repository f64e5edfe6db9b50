/*
 * What a run's record needs beside itself, written when nobody waits for it: the facets that lists
 * filter by, the words of its texts (texts.h), and the counts of the blobs it holds.  Until then the run stands in `pending`, and
 * lists look there too.
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

struct store;

/*
 * Settles at most `most` runs that have ended, in the transaction that is open, and stops early when
 * their texts alone were `bytes_max` bytes.
 */
int settle_runs(struct store *store, unsigned most, size_t bytes_max, unsigned *ret_settled,
	struct err *err);

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
