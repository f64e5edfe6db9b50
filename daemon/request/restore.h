/* Makes a recorded run's request again, from the store. */
#pragma once

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"
#include "proto/value.h"

/*
 * Builds params of `run` from the `request` of a complete record, without the keys in `left_out`
 * (ends with NULL).  They share its values.  NULL: no memory.
 */
struct value *restore_params(
	struct arena *arena, const struct value *request, const char *const *left_out);

/*
 * Reads such params into a spec, without applying today's limits.  Use the spec for reports, not to
 * run it.  Returns -1 when the record is not a valid request.
 */
int restore_spec(struct arena *arena, const struct value *params,
	const struct job_entrypoint *entrypoints, struct job_spec *ret_spec, struct err *err);

/*
 * Returns params in which the files hold their contents instead of naming blobs, since the blobs
 * may be gone when the params are read again.  Shares the values of `params` and `spec`.  Returns
 * `params` without memory.
 */
const struct value *restore_files(
	struct arena *arena, const struct value *params, const struct job_spec *spec);
