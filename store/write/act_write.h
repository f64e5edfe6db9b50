/* Acts of administrators and approvers, and runs that wait for approval. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

struct store;
struct store_act;

/* Writes the row alone.  The caller adds the link when all parts of the act are written. */
int act_insert(
	struct store *store, const struct store_act *act, int64_t *ret_number, struct err *err);

/* The run has ended and waits no more: its row in `parked` is deleted, if there is one. */
int parked_forget(struct store *store, int64_t key, struct err *err);
