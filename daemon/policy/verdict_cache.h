/*
 * A cache of verdicts by program and policy, so that a program is not checked twice.
 *
 * It is bounded in number and bytes and drops the least recently used verdict first.  Callers only
 * add verdicts that depend on the program alone, never that of a late or dead inspector.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/job/job.h"

#define VERDICT_CACHE_MAX       4096U
#define VERDICT_CACHE_BYTES_MAX ((size_t)8 << 20)

struct verdict_cache;

struct verdict_cache_key {
	uint32_t policy;
	uint32_t language;
	char code_hash[HASH_TEXT_LEN + 1];
};

struct verdict_cache *verdict_cache_new(void);
void verdict_cache_free(struct verdict_cache *cache);

/* Copies the verdict into the arena.  False when there is none, or the arena is full. */
bool verdict_cache_get(struct verdict_cache *cache, const struct verdict_cache_key *key,
	struct arena *arena, struct policy_verdict *ret_verdict);

/* Copies the findings' texts; all other strings must live as long as the cache. */
void verdict_cache_put(struct verdict_cache *cache, const struct verdict_cache_key *key,
	const struct policy_verdict *verdict);

struct verdict_cache_counts {
	uint64_t hits;
	uint64_t misses;
	uint32_t kept;
};

struct verdict_cache_counts verdict_cache_counts(const struct verdict_cache *cache);
