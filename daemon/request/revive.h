/*
 * A run that is on the record, as it was asked for: made of the store again.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"

/*
 * The params that would ask for it once more, of the `request` of a record as the store gives it
 * whole.  They share its values.  NULL: no memory.
 */
struct value *revive_params(struct arena *arena, const struct value *request);

/*
 * The same typed, whatever the bounds of today are: for telling what it was, not for running it.
 * -1: the record cannot be read as a request.
 */
int revive_spec(struct arena *arena, const struct value *params,
	const struct job_entrypoint *entrypoints, struct job_spec *ret_spec, struct err *err);

/*
 * Params with the contents of their files in the place of names of contents that were sent ahead, which
 * may have gone by the time when they are read again.  Shares what `params` and `spec` point to; what
 * was asked when there is no memory.
 */
const struct value *revive_files(
	struct arena *arena, const struct value *params, const struct job_spec *spec);
