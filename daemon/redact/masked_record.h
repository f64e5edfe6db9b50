/*
 * What is kept of a request and of its result: copies with secrets masked, which go to the disk in
 * the place of the originals.  What has nothing to mask is shared with the original.
 *
 * Hashes stay those of the true bytes, and so do counts of bytes that a program wrote.
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
