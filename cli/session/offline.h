/*
 * cectl without a daemon: questions about runs are answered from a copy of a store (--store FILE).
 * The only place in cectl that knows stores; commands ask as ever, with cli_ask().
 */
#pragma once

#include <stdbool.h>

#include "cli/base/client.h"

struct store;

/* False for a method that needs a daemon. */
bool offline_can_answer(const char *method);

/*
 * Asks a method that can be answered, as client_call(): 0 with the result, 1 with the error {code,
 * message}, -1 with *err.  The first question opens *copy, which offline_close() closes.
 */
int offline_call(const char *path, struct store **copy, const struct client_question *question,
	struct arena *arena, const struct value **ret_result, struct err *err);

/* Whether the file is a store and every page of it is sound; how many runs are in it. */
int offline_check(const char *path, int64_t *ret_runs, struct err *err);

void offline_close(struct store *copy); /* accepts NULL */
