/*
 * When two requests are the same: what counts of each key of `run`, in one table.
 *
 *	action   for `id`: everything that its caller asked to be done, as it was asked.  How the
 *	         answer travels (stream, detach, trace, cache) is no part of it.
 *	result   for `cache`: everything that can make the program do something else, or something
 *	         else come back: with the numbers in force, and what the host runs it with.
 *
 * A key of run.json that has no row here fails unit.job_identity.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/digest.h"
#include "proto/job/job.h"

enum job_sameness {
	JOB_SAME_ACTION = 1,
	JOB_SAME_RESULT = 2,
};

/* What decides a result beside the request.  Digests as texts. */
struct job_circumstances {
	uint32_t uid;
	const char *runtime_digest;
	const char *policy_digest;
};

/* What job_code_hash() and job_input_hash() said of it. */
struct job_hashes {
	const char *code, *input;
};

void job_action_digest(const struct job_spec *spec, const struct job_hashes *hashes,
	uint8_t ret_digest[DIGEST_LEN]);
void job_cache_key(const struct job_spec *spec, const struct job_hashes *hashes,
	const struct job_circumstances *circumstances, uint8_t ret_key[DIGEST_LEN]);

/* What the table says of a key of `run`: a set of job_sameness; -1: it has no row. */
int job_identity_of(const char *key);
