/*
 * A recorded run, run again: what was asked, taken out of the record as params of `run`, and what
 * came of it held against what came of it then.
 *
 * Replaying is running: the params go through contract, policy and queue as any others, for the
 * caller of today.  The comparison knows nothing but two maps, the record and the new result.
 */
#pragma once

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/value.h"

/*
 * The params of `run` that a record was made from, without what belongs to that one request (its
 * `id`, `stream`, `detach`).  NULL: it cannot be run again, and *ret_why says why; or no memory,
 * and *ret_why is NULL.
 */
struct value *replay_params(struct arena *arena, const struct value *record, const char **ret_why);

/*
 * How many secrets its caller named, at least.  They are stored nowhere; a program that is run without
 * them would have written in the clear what is masked in its record.
 */
uint64_t replay_secrets(const struct value *record);

/*
 * `kept` is the result as it is stored, with masks, and what the record is held against; `result` is
 * what is told of it.
 * -> {replay_of, same, differs, circumstances, masks?, fingerprint, recorded_fingerprint, result}: what a
 * program does that is the same each time must be the same.  How long it took is no part of it.
 * `differs` and `circumstances` are lists of {what, recorded, replayed, line?}.  NULL: no memory.
 */
struct value *replay_compare(struct arena *arena, const struct value *record,
	const struct value *kept, struct value *result);
