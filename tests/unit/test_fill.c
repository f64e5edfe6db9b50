#include <string.h>

#include "proto/fill.h"
#include "tests/arena.h"
#include "tests/check.h"

static struct value *make_number(struct arena *arena, const void *items, size_t index)
{
	return value_int(arena, ((const int *)items)[index]);
}

static struct value *make_nothing(struct arena *arena, const void *items, size_t index)
{
	(void)arena;
	(void)items;
	(void)index;
	return NULL;
}

TEST(a_map_holds_what_was_put)
{
	WITH_ARENA(arena);
	static const int numbers[] = { 7, 8 };
	struct fill fill = fill_start(arena);
	struct value *map;

	fill_text(&fill, "text", "t");
	fill_text(&fill, "empty", NULL);
	fill_optional_text(&fill, "absent", NULL);
	fill_int(&fill, "int", -1);
	fill_uint(&fill, "uint", UINT64_MAX);
	fill_bool(&fill, "bool", true);
	fill_blob(&fill, "blob", (struct bytes){ "\xff", 1 });
	fill_list(&fill, "list", 2, numbers, make_number);
	map = fill_done(&fill);
	CHECK(map);
	CHECK_STR(value_as_text(value_get(map, "text")), "t");
	CHECK_STR(value_as_text(value_get(map, "empty")), "");
	CHECK(!value_get(map, "absent"));
	CHECK_EQ_INT(value_as_int(value_get(map, "int"), 0), -1);
	CHECK(value_get(map, "uint")->uinteger == UINT64_MAX);
	CHECK(value_as_bool(value_get(map, "bool"), false));
	CHECK(value_is(value_get(map, "blob"), VALUE_BYTES));
	CHECK_EQ_INT(value_as_int(value_at(value_get(map, "list"), 1), 0), 8);
}

TEST(a_shared_value_is_seen_under_both_roofs)
{
	WITH_ARENA(arena);
	struct value *inner = value_map(arena);
	struct fill fill = fill_start(arena);

	CHECK_EQ_INT(value_map_put(arena, inner, "a", value_int(arena, 1)), 0);
	fill_shared(&fill, "inner", inner);
	fill_shared(&fill, "absent", NULL);
	CHECK(value_equal(value_get(fill_done(&fill), "inner"), inner));
	CHECK(!value_get(fill_done(&fill), "absent"));
}

TEST(one_failure_makes_the_whole_map_null)
{
	WITH_ARENA(arena);
	struct fill one = fill_start(arena), other = fill_start(arena);

	fill_int(&one, "a", 1);
	fill_value(&one, "b", NULL);
	fill_int(&one, "c", 1);
	CHECK(!fill_done(&one));
	fill_list(&other, "a", 1, NULL, make_nothing);
	CHECK(!fill_done(&other));
}

TEST(a_full_arena_makes_the_map_null)
{
	struct arena arena;
	struct fill fill;

	arena_init(&arena, 16);
	fill = fill_start(&arena);
	fill_text(&fill, "key", "text");
	CHECK(!fill_done(&fill));
	arena_done(&arena);
}
