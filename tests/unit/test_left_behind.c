#include <string.h>

#include "daemon/record/left_behind.h"
#include "proto/base/arena.h"
#include "proto/value.h"
#include "tests/check.h"

static struct value *described(struct arena *arena, const struct left_behind *behind)
{
	struct fill fill = fill_start(arena);

	left_behind_describe(behind, &fill);
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
	struct left_behind behind;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	left_behind_begin(&behind, false);
	CHECK(!described(&arena, &behind));
	arena_done(&arena);
}

TEST(the_first_are_named_once_each_and_all_are_counted)
{
	struct left_behind behind;
	struct arena arena;
	struct value *told;
	char name[] = "run ?";

	arena_init(&arena, 1 << 16);
	left_behind_begin(&behind, false);
	for (unsigned round = 0; round < 2; round++) {
		left_behind_begin(&behind, round > 0);
		for (unsigned i = 0; i < LEFT_BEHIND_NAMED + 4; i++) {
			name[4] = (char)('a' + i);
			left_behind_note(&behind, name, "a page is damaged");
		}
	}
	left_behind_note_rows(&behind, 3, 4711, "so is another");
	told = described(&arena, &behind);
	CHECK_EQ_INT(value_as_int(value_get(told, "runs"), 0), LEFT_BEHIND_NAMED + 4 + 3);
	CHECK_EQ_INT(value_get(told, "names")->list.count, LEFT_BEHIND_NAMED);
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
	struct left_behind behind;

	left_behind_begin(&behind, false);
	CHECK(left_behind_goes_on(&behind, &damaged));
	CHECK(!left_behind_goes_on(&behind, &full));
	CHECK(!left_behind_goes_on(&behind, &locked));
	CHECK(!left_behind_goes_on(&behind, &closing));
}

TEST(it_ends_when_nothing_leaves_any_more)
{
	struct err damaged = failure(ERR_CORRUPT);
	struct left_behind behind;

	left_behind_begin(&behind, false);
	for (unsigned i = 0; i < LEFT_BEHIND_ROW; i++) {
		CHECK(left_behind_goes_on(&behind, &damaged));
		left_behind_note(&behind, "one", "a page is damaged");
	}
	CHECK(!left_behind_goes_on(&behind, &damaged));
	left_behind_gone(&behind);
	CHECK(left_behind_goes_on(&behind, &damaged));
}
