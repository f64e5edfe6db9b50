/*
 * The writer's part of actions and results that are told again; the reader's is in store.h.
 *
 * An action is written with the begun row, so it is on the disk before the program starts, and
 * again or taken back with the ended one, in its transaction.
 */
#pragma once

#include <stdint.h>

#include "store/store.h"

/* The run at `key` begins: its action, if it is one, is taken. */
int repeats_begun(struct store *store, int64_t key, const struct store_run *run, struct err *err);

/* It has ended: its action is used up or free again, and its result may be worth telling again. */
int repeats_ended(struct store *store, int64_t key, const struct store_run *run, struct err *err);
