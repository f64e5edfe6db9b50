/*
 * Searches runs that are not indexed yet. Their texts are put into an FTS5 index in memory, made for one
 * query, so that words are compared as in the index of the store.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

struct store;

/*
 * The unsettled runs that have the words, newest first: gives *ret_keys (free). `question` is the query of the
 * user, and `match` the same in the syntax of FTS5.
 */
int unsettled_search(struct store *store, const char *question, const char *match,
	int64_t **ret_keys, size_t *ret_count, struct err *err);
