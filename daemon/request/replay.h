/*
 * Runs a recorded run again: builds params of `run` from the record, and compares the new result
 * with the recorded one.
 *
 * The params pass contract, policy and queue like any others, for the caller of the replay.  The
 * comparison uses only two maps: the record and the new result.
 */
#pragma once

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/value.h"

/*
 * Returns the params of `run` that lead to this record, without keys of that one request (its `id`,
 * `stream`, `detach`).  `session`: where a cell runs again, or NULL for a run that is none.  NULL:
 * *ret_why says why it cannot be run again, or is NULL without memory.
 */
struct value *replay_params(
	struct arena *arena, const struct value *record, const char *session, const char **ret_why);

/*
 * Returns how many secrets the caller named, at least.  Secrets are stored nowhere.  A replay
 * without them would write masked values in clear text.
 */
uint64_t replay_secrets(const struct value *record);

/*
 * Compares `masked`, the new result as it is stored, with the record.  `result` is the new result
 * as it is reported.  Returns {replay_of, same, differs, circumstances, masks?, fingerprint,
 * recorded_fingerprint, result}, or NULL without memory.
 *
 * `same` covers what a deterministic program does the same each time, and no durations.  `differs`
 * and `circumstances` are lists of {what, recorded, replayed, line?}.
 */
struct value *replay_compare(struct arena *arena, const struct value *record,
	const struct value *masked, struct value *result);
