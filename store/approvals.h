/*
 * Decisions about runs that wait, in the transaction of the act that they are (acts.c).
 */
#pragma once

#include <stdint.h>

#include "store/store.h"

int approvals_put_decision(
	struct store *store, const struct store_decision *decision, int64_t act, struct err *err);
