#include "cli/terminal/spark.h"
#include "proto/base/container.h"
#include "tests/check.h"

static const char *draw(struct arena *arena, bool unicode, const int64_t *numbers, size_t count)
{
	const struct output out = { .unicode = unicode };

	return spark_text(arena, &out, numbers, count);
}

TEST(a_bar_is_as_high_as_its_number)
{
	static const int64_t rising[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const int64_t odd[] = { -5, 0, 1, INT64_MAX, INT64_MIN };
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_STR(draw(&arena, true, rising, COUNT_OF(rising)), " ▂▃▄▅▆▇█");
	CHECK_STR(draw(&arena, false, rising, COUNT_OF(rising)), " :-=+*#@");
	CHECK_STR(draw(&arena, false, odd, COUNT_OF(odd)), "  .@ ");
	arena_done(&arena);
}

TEST(nothing_is_blank_and_no_numbers_are_no_text)
{
	static const int64_t none[] = { 0, 0, 0 };
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_STR(draw(&arena, true, none, COUNT_OF(none)), "   ");
	CHECK_STR(draw(&arena, true, none, 0), "");
	arena_done(&arena);
}

TEST(without_memory_nothing_is_drawn)
{
	static const int64_t one[] = { 1 };
	struct arena arena;

	arena_init(&arena, 0);
	CHECK_STR(draw(&arena, true, one, 1), "");
	arena_done(&arena);
}

TEST(what_finds_no_room_is_joined_with_its_neighbour)
{
	int64_t sums[] = { 1, 2, 3, 4, 5 };
	int64_t times[] = { 1, 9, 3, 4, 5 };
	size_t count = COUNT_OF(sums);

	CHECK_EQ_INT(spark_join(sums, &count, 5, true), 1);
	CHECK_EQ_INT(count, 5);
	CHECK_EQ_INT(spark_join(sums, &count, 4, true), 2);
	CHECK_EQ_INT(count, 3);
	CHECK(sums[0] == 3 && sums[1] == 7 && sums[2] == 5);
	count = COUNT_OF(times);
	CHECK_EQ_INT(spark_join(times, &count, 2, false), 4);
	CHECK_EQ_INT(count, 2);
	CHECK(times[0] == 9 && times[1] == 5);
	CHECK_EQ_INT(spark_join(times, &count, 0, false), 2);
	CHECK_EQ_INT(count, 1);
}
