/*
 * The words of runs that have not settled: their texts go through an index of their own, in memory,
 * made for one question and gone with it, so that words mean here what they mean in the large one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct store;

/*
 * The unsettled runs that hold the words, newest first: gives *ret_keys (free).  `question` is what
 * was asked and `match` the same in the index's language.
 */
int unsettled_search(struct store *store, const char *question, const char *match,
	int64_t **ret_keys, size_t *ret_count, struct err *err);
