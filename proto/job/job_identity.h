/*
 * Decides when two requests are the same.  One table has the role of each key of `run`.
 *
 *	action   for `id`: everything that the caller asked for, as it was sent.  It excludes how
 *	         the answer is sent (stream, detach, trace, cache).
 *	result   for `cache`: everything that can change what the program does or what comes back.
 *	         It includes the limits in force and the circumstances on the host.
 *
 * unit.job_identity fails when a key of run.json has no row in the table.
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

/* Everything besides the request that determines a result.  Digests are in text form. */
struct job_circumstances {
	uint32_t uid;
	const char *runtime_digest;
	const char *policy_digest;
	const struct value *packages; /* [{name, digest}] of the sets that are used, or NULL */
};

/* The hashes from job_code_hash() and job_input_hash(). */
struct job_hashes {
	const char *code, *input;
};

void job_action_digest(const struct job_spec *spec, const struct job_hashes *hashes,
	uint8_t ret_digest[DIGEST_LEN]);
void job_cache_key(const struct job_spec *spec, const struct job_hashes *hashes,
	const struct job_circumstances *circumstances, uint8_t ret_key[DIGEST_LEN]);

/* Returns the table's set of job_sameness for a key of `run`; -1: the key has no row. */
int job_identity_of(const char *key);
