/*
 * Writes what need not run again: actions (what a caller's own id stands for) and results that may
 * be reused.
 *
 * An action is written with the begun row, so that it is on the disk before the program starts.
 * The transaction of the ended row writes it again or deletes it.
 */
#pragma once

#include <stdint.h>

#include "store/store.h"

/* The action and the cache key that an ended run keeps; or NULL. */
const uint8_t *reuse_action(const struct store_run *run);
const uint8_t *reuse_cache_key(const struct store_run *run);

/* The run at `key` begins. */
int reuse_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err);

/* The run has ended: its action is used up or free again, and its result may be reused. */
int reuse_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err);
