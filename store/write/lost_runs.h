/* Runs that were in flight when the last writer ended. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

struct store;

/* Records them as lost, in a transaction of its own. */
int lost_runs_record(struct store *store, uint64_t *ret_count, struct err *err);
