#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/policy/verdict_cache.h"
#include "tests/check.h"
#include "tests/fault.h"

static struct verdict_cache_key key(uint32_t policy, unsigned number)
{
	struct verdict_cache_key key = { .policy = policy };

	(void)snprintf(key.code_hash, sizeof(key.code_hash), "sha256:%064x", number);
	return key;
}

static struct policy_finding finding = { "python.call.denied", "deny", 3, 4, "eval", "m", "h" };

static struct policy_verdict verdict(size_t count)
{
	return (struct policy_verdict){ POLICY_DENY, "strict", "sha256:", &finding, count };
}

static bool knows(struct verdict_cache *cache, const struct verdict_cache_key *wanted)
{
	struct policy_verdict found;
	struct arena arena;
	bool known;

	arena_init(&arena, 1 << 20);
	known = verdict_cache_get(cache, wanted, &arena, &found);
	arena_done(&arena);
	return known;
}

TEST(a_verdict_comes_back_whole_and_in_the_askers_memory)
{
	struct verdict_cache *cache = verdict_cache_new();
	struct verdict_cache_key one = key(1, 1);
	struct policy_verdict put = verdict(1);
	struct policy_verdict got;
	struct arena arena;

	CHECK(cache);
	arena_init(&arena, 1 << 20);
	verdict_cache_put(cache, &one, &put);
	CHECK(verdict_cache_get(cache, &one, &arena, &got));
	verdict_cache_free(cache);
	CHECK_EQ_INT(got.decision, POLICY_DENY);
	CHECK_EQ_INT(got.finding_count, 1);
	CHECK_STR(got.findings[0].text, "eval");
	CHECK_EQ_INT(got.findings[0].line, 3);
	arena_done(&arena);
}

TEST(another_policy_or_program_is_another_verdict)
{
	struct verdict_cache *cache = verdict_cache_new();
	struct verdict_cache_key one = key(1, 1);
	struct verdict_cache_key other_policy = key(2, 1);
	struct verdict_cache_key other_program = key(1, 2);
	struct policy_verdict put = verdict(0);

	CHECK(cache);
	verdict_cache_put(cache, &one, &put);
	CHECK(knows(cache, &one));
	CHECK(!knows(cache, &other_policy));
	CHECK(!knows(cache, &other_program));
	verdict_cache_free(cache);
}

TEST(what_stands_behind_the_hash_does_not_count)
{
	struct verdict_cache *cache = verdict_cache_new();
	struct verdict_cache_key one = { .policy = 1, .code_hash = "short" };
	struct verdict_cache_key same = { .policy = 1, .code_hash = "short" };
	struct policy_verdict put = verdict(0);

	CHECK(cache);
	memset(same.code_hash + 6, 'x', sizeof(same.code_hash) - 6);
	verdict_cache_put(cache, &one, &put);
	CHECK(knows(cache, &same));
	verdict_cache_free(cache);
}

TEST(what_was_not_asked_for_longest_goes_first)
{
	struct verdict_cache *cache = verdict_cache_new();
	struct verdict_cache_key first = key(1, 0);
	struct verdict_cache_key second = key(1, 1);
	struct policy_verdict put = verdict(1);

	CHECK(cache);
	for (unsigned i = 0; i < VERDICT_CACHE_MAX; i++) {
		struct verdict_cache_key next = key(1, i);

		verdict_cache_put(cache, &next, &put);
	}
	CHECK(knows(cache, &first));
	first = key(1, VERDICT_CACHE_MAX);
	verdict_cache_put(cache, &first, &put);
	first = key(1, 0);
	CHECK(knows(cache, &first));
	CHECK(!knows(cache, &second));
	CHECK_EQ_INT(verdict_cache_counts(cache).kept, VERDICT_CACHE_MAX);
	verdict_cache_free(cache);
}

TEST(a_verdict_put_twice_is_kept_once)
{
	struct verdict_cache *cache = verdict_cache_new();
	struct verdict_cache_key one = key(1, 1);
	struct policy_verdict put = verdict(1);

	CHECK(cache);
	verdict_cache_put(cache, &one, &put);
	put = verdict(0);
	verdict_cache_put(cache, &one, &put);
	CHECK_EQ_INT(verdict_cache_counts(cache).kept, 1);
	verdict_cache_free(cache);
}

TEST(a_memory_without_memory_forgets_and_does_no_harm)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct verdict_cache *cache = verdict_cache_new();
		struct verdict_cache_key one = key(1, 1);
		struct policy_verdict put = verdict(1);

		CHECK(cache || fault_hit());
		if (!cache)
			continue;
		verdict_cache_put(cache, &one, &put);
		CHECK(knows(cache, &one) || fault_hit());
		verdict_cache_free(cache);
	}
}
