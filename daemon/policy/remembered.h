/*
 * Verdicts by program and policy: a program that was checked once is not checked again.
 *
 * Bounded in number and bytes; what was not asked for longest goes first.  Only verdicts that
 * are facts of the program are to be put in, never one that came of a late or dead inspector.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/job/job.h"

#define REMEMBERED_MAX       4096U
#define REMEMBERED_BYTES_MAX ((size_t)8 << 20)

struct remembered;

struct remembered_key {
	uint32_t policy;
	uint32_t language;
	char code_hash[HASH_TEXT_LEN + 1];
};

struct remembered *remembered_new(void);
void remembered_free(struct remembered *remembered);

/* A copy in the arena.  False when it is not known, or the arena is full. */
bool remembered_get(struct remembered *remembered, const struct remembered_key *key,
	struct arena *arena, struct policy_verdict *ret_verdict);

/* Copies the findings' texts; all other words must live as long as `remembered`. */
void remembered_put(struct remembered *remembered, const struct remembered_key *key,
	const struct policy_verdict *verdict);

struct remembered_counts {
	uint64_t hits;
	uint64_t misses;
	uint32_t kept;
};

struct remembered_counts remembered_counts(const struct remembered *remembered);
