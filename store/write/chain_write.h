/* Adds links to the chain (store/base/chain.h), in the transaction that is open. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "store/base/chain.h"

struct store;

/* Adds a link for a record that has been written. */
int chain_add(struct store *store, enum chain_kind kind, int64_t subject, struct err *err);
