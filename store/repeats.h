/*
 * The writer's part of actions and results that are told again; the reader's is in store.h.
 *
 * An action is written with the begun row, so it is on the disk before the program starts, and
 * again or taken back with the ended one, in its transaction.
 */
#pragma once

#include <stdint.h>

#include "store/store.h"

/*
 * Whether the run `r` did what its caller named: it says so itself, or it is older than that and ran under
 * a name while there were such names already.  One that was lost may have died before it took its name.
 */
#define ACTION_WAS_DONE                                                                       \
	"r.method = 'run' AND (r.action IS NOT NULL OR (r.cached_from IS NULL AND r.outcome " \
	"<> 'lost' AND (r.ran <> 'no' OR r.outcome = 'syntax_error') AND r.ended_us > "       \
	"ifnull((SELECT max(b.at_us) FROM acts AS b WHERE b.method = 'audit.begin'), 0)))"

/* What an ended run says of itself: the name that it holds, and the place of its result; or NULL. */
const uint8_t *repeats_action(const struct store_run *run);
const uint8_t *repeats_cache_key(const struct store_run *run);

/* The run at `key` begins: its action, if it is one, is taken. */
int repeats_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err);

/* It has ended: its action is used up or free again, and its result may be worth telling again. */
int repeats_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err);
