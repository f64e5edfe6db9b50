/*
 * Makes copies of a request and of its result with secrets masked.  The daemon records the copies
 * instead of the originals.  Parts without secrets are shared with the original.
 *
 * Hashes and byte counts stay those of the original.
 */
#pragma once

#include "daemon/redact/redactor.h"
#include "proto/job/job.h"

/* All of the request, without the secrets themselves. */
void mask_spec(struct redactor *redactor, const struct job_spec *spec, struct job_spec *ret_kept);

void mask_result(
	struct redactor *redactor, const struct job_result *result, struct job_result *ret_kept);

/*
 * The params of a request that the contract refused.  Values under a key that begins with "secret"
 * are left out, and masked in all other values.  If one of them cannot be masked, all params are
 * withheld.  Replaces the redactor's secrets.
 */
const struct value *mask_refused_params(struct redactor *redactor, const struct value *params);

/* Removes from a result everything that comes from a program or its request. */
void mask_everything(struct job_result *kept);

/* How many bytes have to be searched. */
size_t masked_spec_cost(const struct job_spec *spec);
size_t masked_result_cost(const struct job_result *result);
