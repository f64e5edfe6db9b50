/*
 * cectl without a daemon: questions about runs are answered from a copy of a store (--store FILE).
 * The only place in cectl that knows stores; commands ask as ever, with cli_ask().
 */
#pragma once

#include "cli/session/cli.h"

/*
 * Asks the method of that name, as client_call(): 0 with the result, 1 with the error {code,
 * message}, -1 with *err.  Calls that need a daemon are refused.
 */
int offline_call(struct cli *cli, const char *name, const struct value *params,
	const struct value **ret_result, struct err *err);

/* Whether the file is a store and every page of it is sound; how many runs are in it. */
int offline_check(const char *path, int64_t *ret_runs, struct err *err);

/* Closes what the first question opened. */
void offline_close(struct cli *cli);
