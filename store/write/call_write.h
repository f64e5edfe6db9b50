/* Calls of tools of a run that ends.  store.h has the rest. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

struct store;

/* Whether all calls of the run are recorded: 0, or -1. */
int calls_check(struct store *store, int64_t key, uint32_t count, struct err *err);
