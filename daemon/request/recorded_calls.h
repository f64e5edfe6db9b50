/*
 * The calls of a recorded run, from which the calls of its replay are answered
 * (docs/decisions/0110-replayed-calls.md).
 *
 * Calls of one tool with equal arguments get their recorded answers in the order in which they were
 * made then.  Each answer is given once.
 */
#pragma once

#include "proto/value.h"

struct recorded_calls;

/* `record` has `tool_calls`, or none, and lives longer.  NULL: no memory. */
struct recorded_calls *recorded_calls_new(const struct value *record);

/* Accepts NULL. */
void recorded_calls_free(struct recorded_calls *calls);

/*
 * The next row of this tool and these arguments, masked as the record's are.  NULL: there is none.
 * Compares with each row that is left, so it belongs on a thread: one at a time.
 */
const struct value *recorded_calls_take(
	struct recorded_calls *calls, const char *tool, const struct value *args);
