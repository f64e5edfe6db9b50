/*
 * Copies of a request and of its result with secrets masked, which are recorded instead of the originals.
  * Parts without secrets are shared with the original.
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
 * The params of a request that the contract refused.  Whatever stands under a key that begins with
 * "secret" is masked everywhere and left out; where that is nothing that can be masked, nothing is
 * kept.  Takes the place of the redactor's secrets.
 */
const struct value *mask_refused_params(struct redactor *redactor, const struct value *params);

/* Takes everything out of a result that a program or its request has brought. */
void mask_everything(struct job_result *kept);

/* What has to be looked through, in bytes. */
size_t masked_spec_cost(const struct job_spec *spec);
size_t masked_result_cost(const struct job_result *result);
