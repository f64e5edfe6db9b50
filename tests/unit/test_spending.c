#include "daemon/gate/spending.h"
#include "tests/check.h"

#define SECOND 1000000
#define WINDOW ((int64_t)SPENDING_SLICES * SECOND)
#define BEGUN  ((int64_t)100 * WINDOW)

TEST(what_was_spent_leaves_with_its_slice)
{
	struct spending spending;

	spending_init(&spending, WINDOW, BEGUN);
	spending_add(&spending, SPENT_BYTES, 5, 0);
	spending_move_on(&spending, BEGUN + SECOND);
	spending_add(&spending, SPENT_BYTES, 7, 0);
	spending_move_on(&spending, BEGUN + WINDOW - 1);
	CHECK_EQ_INT(spending.sum[SPENT_BYTES], 12);
	spending_move_on(&spending, BEGUN + WINDOW);
	CHECK_EQ_INT(spending.sum[SPENT_BYTES], 7);
	spending_move_on(&spending, BEGUN + 10 * WINDOW);
	CHECK_EQ_INT(spending.sum[SPENT_BYTES], 0);
}

TEST(each_kind_is_counted_by_itself)
{
	struct spending spending;

	spending_init(&spending, WINDOW, BEGUN);
	spending_add(&spending, SPENT_CPU_US, 3, 0);
	spending_add(&spending, SPENT_RUNS, 1, 0);
	CHECK_EQ_INT(spending.sum[SPENT_CPU_US], 3);
	CHECK_EQ_INT(spending.sum[SPENT_RUNS], 1);
	CHECK_EQ_INT(spending.sum[SPENT_WALL_US], 0);
}

TEST(what_is_older_than_the_window_or_the_clock_says_nothing)
{
	struct spending spending;

	spending_init(&spending, WINDOW, BEGUN);
	spending_add(&spending, SPENT_RUNS, 1, WINDOW - 1);
	CHECK_EQ_INT(spending.sum[SPENT_RUNS], 1);
	spending_add(&spending, SPENT_RUNS, 1, WINDOW);
	CHECK_EQ_INT(spending.sum[SPENT_RUNS], 1);
	spending_init(&spending, WINDOW, SECOND);
	spending_add(&spending, SPENT_RUNS, 1, 2 * SECOND);
	CHECK_EQ_INT(spending.sum[SPENT_RUNS], 0);
}

TEST(the_time_until_there_is_room_is_when_enough_slices_have_left)
{
	struct spending spending;

	spending_init(&spending, WINDOW, BEGUN);
	spending_add(&spending, SPENT_RUNS, 2, 2 * SECOND);
	spending_add(&spending, SPENT_RUNS, 2, 0);
	CHECK_EQ_INT(spending_until_below(&spending, SPENT_RUNS, 4, BEGUN), WINDOW - 2 * SECOND);
	CHECK_EQ_INT(spending_until_below(&spending, SPENT_RUNS, 1, BEGUN), WINDOW);
}

TEST(what_is_forgotten_was_never_spent)
{
	struct spending spending;

	spending_init(&spending, WINDOW, BEGUN);
	spending_add(&spending, SPENT_RUNS, 2, 0);
	spending_forget(&spending);
	CHECK_EQ_INT(spending.sum[SPENT_RUNS], 0);
	spending_move_on(&spending, BEGUN + WINDOW);
	CHECK_EQ_INT(spending.sum[SPENT_RUNS], 0);
}
