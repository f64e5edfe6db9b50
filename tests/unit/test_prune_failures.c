#include <string.h>

#include "daemon/record/prune_failures.h"
#include "proto/base/arena.h"
#include "proto/value.h"
#include "tests/check.h"

static struct value *described(struct arena *arena, const struct prune_failures *behind)
{
	struct fill fill = fill_start(arena);

	prune_failures_describe(behind, &fill);
	return value_get(fill_done(&fill), "left_behind");
}

static struct err failure(enum err_code code)
{
	struct err err = ERR_INIT;

	(void)err_set(&err, code, "why not");
	return err;
}

TEST(nobody_is_told_of_when_all_have_left)
{
	struct prune_failures behind;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	prune_failures_start(&behind, false);
	CHECK(!described(&arena, &behind));
	arena_done(&arena);
}

TEST(the_first_are_named_once_each_and_all_are_counted)
{
	struct prune_failures behind;
	struct arena arena;
	struct value *told;
	char name[] = "run ?";

	arena_init(&arena, 1 << 16);
	prune_failures_start(&behind, false);
	for (unsigned round = 0; round < 2; round++) {
		prune_failures_start(&behind, round > 0);
		for (unsigned i = 0; i < PRUNE_FAILURES_NAMED + 4; i++) {
			name[4] = (char)('a' + i);
			prune_failures_add(&behind, name, "a page is damaged");
		}
	}
	prune_failures_add_rows(&behind, 3, 4711, "so is another");
	told = described(&arena, &behind);
	CHECK_EQ_INT(value_as_int(value_get(told, "runs"), 0), PRUNE_FAILURES_NAMED + 4 + 3);
	CHECK_EQ_INT(value_get(told, "names")->list.count, PRUNE_FAILURES_NAMED);
	CHECK_STR(value_as_text(value_at(value_get(told, "names"), 0)), "run a");
	CHECK_STR(value_as_text(value_get(told, "why")), "so is another");
	arena_done(&arena);
}

TEST(it_goes_on_over_damage_and_not_over_a_store_that_is_shut)
{
	struct err damaged = failure(ERR_CORRUPT);
	struct err full = failure(ERR_FULL);
	struct err locked = failure(ERR_BUSY);
	struct err closing = failure(ERR_CLOSED);
	struct prune_failures behind;

	prune_failures_start(&behind, false);
	CHECK(prune_failures_may_continue(&behind, &damaged));
	CHECK(!prune_failures_may_continue(&behind, &full));
	CHECK(!prune_failures_may_continue(&behind, &locked));
	CHECK(!prune_failures_may_continue(&behind, &closing));
}

TEST(it_ends_when_nothing_leaves_any_more)
{
	struct err damaged = failure(ERR_CORRUPT);
	struct prune_failures behind;

	prune_failures_start(&behind, false);
	for (unsigned i = 0; i < PRUNE_FAILURES_IN_A_ROW; i++) {
		CHECK(prune_failures_may_continue(&behind, &damaged));
		prune_failures_add(&behind, "one", "a page is damaged");
	}
	CHECK(!prune_failures_may_continue(&behind, &damaged));
	prune_failures_success(&behind);
	CHECK(prune_failures_may_continue(&behind, &damaged));
}
