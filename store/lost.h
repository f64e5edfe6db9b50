/* Runs that were in flight when the last writer ended. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

struct store;

/* Writes down that nobody knows how far they came, and counts them.  Outside a transaction. */
int lost_mark(struct store *store, uint64_t *ret_count, struct err *err);
