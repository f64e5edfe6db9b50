#include <string.h>

#include "daemon/request/claims.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/fault.h"

static struct claim_entry entry_for(uint8_t content)
{
	struct claim_entry entry = { .leads = false };

	list_init(&entry.link);
	memset(entry.content, content, sizeof(entry.content));
	return entry;
}

static unsigned count(const struct list *list)
{
	unsigned found = 0;

	list_for_each(at, list)
		found++;
	return found;
}

TEST(the_first_one_looks_and_the_others_wait_whatever_they_want)
{
	struct claims claims;
	struct claim_entry first = entry_for(1), same = entry_for(1), other = entry_for(2);
	struct list waiting;

	claims_init(&claims);
	CHECK_EQ_INT(claims_enter(&claims, 1, "a", &first), CLAIM_FIRST);
	CHECK_EQ_INT(claims_enter(&claims, 1, "a", &same), CLAIM_WAITS);
	CHECK_EQ_INT(claims_enter(&claims, 1, "a", &other), CLAIM_WAITS);
	CHECK(claims_leader(&same) == &first);
	CHECK(claims_find(&claims, 1, "a") == &first);
	claims_leave(&claims, &first, &waiting);
	CHECK_EQ_INT(count(&waiting), 2);
	CHECK(list_first(&waiting) == &same.link);
	CHECK(!claims_find(&claims, 1, "a"));
	CHECK(!same.claim);
	claims_done(&claims);
}

TEST(when_it_is_decided_only_those_that_want_the_same_wait_on)
{
	struct claims claims;
	struct claim_entry first = entry_for(1), same = entry_for(1), other = entry_for(2);
	struct claim_entry late = entry_for(2);
	struct list others;

	claims_init(&claims);
	(void)claims_enter(&claims, 1, "a", &first);
	(void)claims_enter(&claims, 1, "a", &same);
	(void)claims_enter(&claims, 1, "a", &other);
	claims_decide(&first, &others);
	CHECK_EQ_INT(count(&others), 1);
	CHECK(list_first(&others) == &other.link);
	CHECK_EQ_INT(claims_enter(&claims, 1, "a", &late), CLAIM_OTHER);
	CHECK(!late.claim);
	CHECK(claims_has_waiting(&first));
	claims_leave(&claims, &same, &others);
	CHECK_EQ_INT(count(&others), 0);
	CHECK(!claims_has_waiting(&first));
	claims_leave(&claims, &first, &others);
	claims_done(&claims);
}

TEST(an_id_belongs_to_its_user)
{
	struct claims claims;
	struct claim_entry mine = entry_for(1), yours = entry_for(1);
	struct list nobody;

	claims_init(&claims);
	CHECK_EQ_INT(claims_enter(&claims, 1, "a", &mine), CLAIM_FIRST);
	CHECK_EQ_INT(claims_enter(&claims, 2, "a", &yours), CLAIM_FIRST);
	claims_leave(&claims, &mine, &nobody);
	claims_leave(&claims, &mine, &nobody);
	claims_leave(&claims, &yours, &nobody);
	claims_done(&claims);
}

TEST(what_is_passed_on_goes_to_who_waited_longest)
{
	struct claims claims;
	struct claim_entry first = entry_for(1), second = entry_for(1), third = entry_for(1);
	struct list others;

	claims_init(&claims);
	(void)claims_enter(&claims, 1, "a", &first);
	claims_decide(&first, &others);
	(void)claims_enter(&claims, 1, "a", &second);
	(void)claims_enter(&claims, 1, "a", &third);
	CHECK(claims_pass_on(&claims, &first) == &second);
	CHECK(!first.claim && !first.leads);
	CHECK(claims_leader(&third) == &second);
	CHECK(claims_pass_on(&claims, &second) == &third);
	CHECK(!claims_pass_on(&claims, &third));
	CHECK(!claims_find(&claims, 1, "a"));
	claims_done(&claims);
}

TEST(an_id_may_be_128_characters_of_any_script)
{
	struct claims claims;
	struct claim_entry entry = entry_for(1);
	struct list nobody;
	char id[513];

	for (size_t i = 0; i < 512; i += 4)
		memcpy(id + i, "\xf0\x9f\x90\x8d", 4);
	id[512] = '\0';
	claims_init(&claims);
	CHECK_EQ_INT(claims_enter(&claims, UINT32_MAX, id, &entry), CLAIM_FIRST);
	claims_leave(&claims, &entry, &nobody);
	claims_done(&claims);
}

TEST(without_memory_it_holds_nothing)
{
	struct claim_entry entry = entry_for(1);
	struct claims claims;
	struct list nobody;

	claims_init(&claims);
	FAULT_LOOP(FAULT_ALLOC) {
		enum claim_answer answer = claims_enter(&claims, 1, "a", &entry);

		CHECK(answer == CLAIM_FIRST || (fault_hit() && answer == CLAIM_NO_ROOM));
		CHECK((entry.claim != NULL) == (claims_find(&claims, 1, "a") != NULL));
		claims_leave(&claims, &entry, &nobody);
	}
	claims_done(&claims);
}
