#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/policy/remembered.h"
#include "tests/check.h"
#include "tests/fault.h"

static struct remembered_key key(uint32_t policy, unsigned number)
{
	struct remembered_key key = { .policy = policy };

	(void)snprintf(key.code_hash, sizeof(key.code_hash), "sha256:%064x", number);
	return key;
}

static struct policy_finding finding = { "python.call.denied", "deny", 3, 4, "eval", "m", "h" };

static struct policy_verdict verdict(size_t count)
{
	return (struct policy_verdict){ POLICY_DENY, "strict", "sha256:", &finding, count };
}

static bool knows(struct remembered *remembered, const struct remembered_key *wanted)
{
	struct policy_verdict found;
	struct arena arena;
	bool known;

	arena_init(&arena, 1 << 20);
	known = remembered_get(remembered, wanted, &arena, &found);
	arena_done(&arena);
	return known;
}

TEST(a_verdict_comes_back_whole_and_in_the_askers_memory)
{
	struct remembered *remembered = remembered_new();
	struct remembered_key one = key(1, 1);
	struct policy_verdict put = verdict(1);
	struct policy_verdict got;
	struct arena arena;

	CHECK(remembered);
	arena_init(&arena, 1 << 20);
	remembered_put(remembered, &one, &put);
	CHECK(remembered_get(remembered, &one, &arena, &got));
	remembered_free(remembered);
	CHECK_EQ_INT(got.decision, POLICY_DENY);
	CHECK_EQ_INT(got.finding_count, 1);
	CHECK_STR(got.findings[0].text, "eval");
	CHECK_EQ_INT(got.findings[0].line, 3);
	arena_done(&arena);
}

TEST(another_policy_or_program_is_another_verdict)
{
	struct remembered *remembered = remembered_new();
	struct remembered_key one = key(1, 1);
	struct remembered_key other_policy = key(2, 1);
	struct remembered_key other_program = key(1, 2);
	struct policy_verdict put = verdict(0);

	CHECK(remembered);
	remembered_put(remembered, &one, &put);
	CHECK(knows(remembered, &one));
	CHECK(!knows(remembered, &other_policy));
	CHECK(!knows(remembered, &other_program));
	remembered_free(remembered);
}

TEST(what_stands_behind_the_hash_does_not_count)
{
	struct remembered *remembered = remembered_new();
	struct remembered_key one = { .policy = 1, .code_hash = "short" };
	struct remembered_key same = { .policy = 1, .code_hash = "short" };
	struct policy_verdict put = verdict(0);

	CHECK(remembered);
	memset(same.code_hash + 6, 'x', sizeof(same.code_hash) - 6);
	remembered_put(remembered, &one, &put);
	CHECK(knows(remembered, &same));
	remembered_free(remembered);
}

TEST(what_was_not_asked_for_longest_goes_first)
{
	struct remembered *remembered = remembered_new();
	struct remembered_key first = key(1, 0);
	struct remembered_key second = key(1, 1);
	struct policy_verdict put = verdict(1);

	CHECK(remembered);
	for (unsigned i = 0; i < REMEMBERED_MAX; i++) {
		struct remembered_key next = key(1, i);

		remembered_put(remembered, &next, &put);
	}
	CHECK(knows(remembered, &first));
	first = key(1, REMEMBERED_MAX);
	remembered_put(remembered, &first, &put);
	first = key(1, 0);
	CHECK(knows(remembered, &first));
	CHECK(!knows(remembered, &second));
	CHECK_EQ_INT(remembered_counts(remembered).kept, REMEMBERED_MAX);
	remembered_free(remembered);
}

TEST(a_verdict_put_twice_is_kept_once)
{
	struct remembered *remembered = remembered_new();
	struct remembered_key one = key(1, 1);
	struct policy_verdict put = verdict(1);

	CHECK(remembered);
	remembered_put(remembered, &one, &put);
	put = verdict(0);
	remembered_put(remembered, &one, &put);
	CHECK_EQ_INT(remembered_counts(remembered).kept, 1);
	remembered_free(remembered);
}

TEST(a_memory_without_memory_forgets_and_does_no_harm)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct remembered *remembered = remembered_new();
		struct remembered_key one = key(1, 1);
		struct policy_verdict put = verdict(1);

		CHECK(remembered || fault_hit());
		if (!remembered)
			continue;
		remembered_put(remembered, &one, &put);
		CHECK(knows(remembered, &one) || fault_hit());
		remembered_free(remembered);
	}
}
