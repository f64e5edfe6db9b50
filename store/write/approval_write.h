/* Runs that wait for approval, and decisions about them. */
#pragma once

#include <stdint.h>

#include "store/store.h"

/* The run has ended and waits no more: its row is deleted, if there is one. */
int parked_forget(struct store *store, int64_t key, struct err *err);

/* Writes the decision that the act makes. */
int approval_put_decision(
	struct store *store, const struct store_decision *decision, int64_t act, struct err *err);
