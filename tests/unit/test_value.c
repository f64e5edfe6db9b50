#include <stdio.h>
#include <string.h>

#include "proto/value.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

TEST(values_remember_what_they_were_built_from)
{
	WITH_ARENA(arena);
	struct value *map = value_map(arena);
	struct value *list = value_list(arena);

	CHECK(value_map_put(arena, map, "n", value_int(arena, -3)) == 0);
	CHECK(value_map_put(arena, map, "t", value_text(arena, "text")) == 0);
	CHECK(value_map_put(arena, map, "y", value_bool(arena, true)) == 0);
	CHECK(value_map_put(arena, map, "l", list) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(value_list_add(arena, list, value_int(arena, i)) == 0);
	CHECK(value_ok(arena));
	CHECK_EQ_INT(value_as_int(value_get(map, "n"), 0), -3);
	CHECK_STR(value_as_text(value_get(map, "t")), "text");
	CHECK(value_as_bool(value_get(map, "y"), false));
	CHECK_EQ_INT(value_as_int(value_at(value_get(map, "l"), 99), 0), 99);
	CHECK(!value_at(list, 100));
	CHECK(!value_get(map, "m"));
	CHECK_STR(map->map.entries[0].key, "n");
	CHECK_STR(map->map.entries[3].key, "l");
}

TEST(readers_take_anything)
{
	WITH_ARENA(arena);
	struct value *nil = value_nil(arena);

	CHECK(!value_get(NULL, "x") && !value_get(nil, "x"));
	CHECK(!value_at(NULL, 0) && !value_at(nil, 0));
	CHECK(!value_as_text(NULL) && !value_as_text(nil));
	CHECK_EQ_INT(value_as_int(NULL, 7), 7);
	CHECK_EQ_INT(value_as_int(value_real(arena, 1.0), 7), 7);
	CHECK(value_as_bool(NULL, true) && !value_as_bool(nil, false));
	CHECK(!value_is(NULL, VALUE_NIL));
	CHECK_STR(value_type_word(NULL), "nil");
	CHECK_STR(value_type_word(value_uint(arena, UINT64_MAX)), "int");
	CHECK_STR(value_type_word(value_real(arena, 1)), "real");
	CHECK_STR(value_type_word(value_map(arena)), "map");
}

TEST(unsigned_integers_are_ints_when_they_fit)
{
	WITH_ARENA(arena);

	CHECK(value_is(value_uint(arena, INT64_MAX), VALUE_INT));
	CHECK(value_is(value_uint(arena, (uint64_t)INT64_MAX + 1), VALUE_UINT));
}

TEST(text_that_is_not_utf8_becomes_bytes)
{
	WITH_ARENA(arena);

	CHECK(value_is(value_text(arena, "h\xc3\xa9"), VALUE_TEXT));
	CHECK(value_is(value_text(arena, "h\xc3"), VALUE_BYTES));
	CHECK(value_is(value_text(arena, NULL), VALUE_NIL));
	CHECK(value_is(value_blob_borrowed(arena, "h\xff", 2), VALUE_BYTES));
	CHECK(value_is(value_blob_borrowed(arena, NULL, 0), VALUE_TEXT));
	CHECK(value_map_put(arena, value_map(arena), "\xff", value_nil(arena)) < 0);
	CHECK(!value_ok(arena));
}

TEST(a_borrowed_text_is_never_given_as_a_terminated_one)
{
	WITH_ARENA(arena);
	const char bytes[] = { 'a', 'b', 'c' }; /* no NUL */
	struct value *value = value_blob_borrowed(arena, bytes, sizeof(bytes));

	CHECK(value_is(value, VALUE_TEXT));
	CHECK(value_as_text(value) == NULL);
	CHECK(value_equal(value, value_text(arena, "abc")));
}

TEST(text_with_an_inner_nul_is_not_a_c_string)
{
	WITH_ARENA(arena);

	CHECK(!value_as_text(value_text_len(arena, "a\0b", 3)));
	CHECK_STR(value_as_text(value_text_len(arena, "abc", 2)), "ab");
}

TEST(a_failed_part_fails_the_whole_and_marks_the_arena)
{
	WITH_ARENA(arena);

	CHECK(value_list_add(arena, value_list(arena), NULL) < 0);
	CHECK(!value_ok(arena));
	arena_done(arena);
	CHECK(value_ok(arena));
	CHECK(value_map_put(arena, NULL, "k", value_nil(arena)) < 0);
	CHECK(!value_ok(arena));
}

TEST(building_without_memory_never_goes_unnoticed)
{
	FAULT_LOOP(FAULT_ALLOC) {
		WITH_ARENA(arena);
		struct value *map = value_map(arena);

		for (int i = 0; i < 200; i++) {
			struct value *list = value_list(arena);
			char key[16];

			(void)snprintf(key, sizeof(key), "%d", i);
			(void)value_list_add(arena, list, value_text(arena, key));
			(void)value_list_add(arena, list, value_bytes(arena, key, 2));
			(void)value_map_put(arena, map, key, list);
		}
		CHECK(value_ok(arena) || fault_hit());
		CHECK(!value_ok(arena) || map->map.count == 200);
	}
}

/* ---- equality ---- */

TEST(numbers_are_equal_by_what_they_are_worth)
{
	WITH_ARENA(arena);
	struct value *one = value_int(arena, 1);
	struct value *big = value_int(arena, 9007199254740993); /* 2^53 + 1 */

	CHECK(value_equal(one, value_real(arena, 1.0)));
	CHECK(!value_equal(one, value_real(arena, 1.5)));
	CHECK(!value_equal(one, value_bool(arena, true)));
	CHECK(!value_equal(big, value_real(arena, 9007199254740992.0)));
	CHECK(value_equal(value_real(arena, 0.0), value_real(arena, -0.0)));
	CHECK(value_equal(value_int(arena, INT64_MIN), value_real(arena, -0x1p63)));
	CHECK(!value_equal(value_int(arena, INT64_MAX), value_real(arena, 0x1p63)));
	CHECK(value_equal(value_uint(arena, 1UL << 63), value_real(arena, 0x1p63)));
	CHECK(!value_equal(value_uint(arena, UINT64_MAX), value_real(arena, 0x1p64)));
	CHECK(!value_equal(value_uint(arena, UINT64_MAX), value_int(arena, -1)));
	CHECK(!value_equal(one, value_real(arena, 1e300)));
	CHECK(!value_equal(one, value_real(arena, -1e300)));
	CHECK(!value_equal(value_real(arena, __builtin_nan("")), one));
}

TEST(texts_bytes_and_nil_are_different_things)
{
	WITH_ARENA(arena);

	CHECK(value_equal(value_text(arena, "a"), value_text(arena, "a")));
	CHECK(!value_equal(value_text(arena, "a"), value_bytes(arena, "a", 1)));
	CHECK(!value_equal(value_text(arena, "a"), value_text_len(arena, "a\0", 2)));
	CHECK(value_equal(value_nil(arena), value_nil(arena)));
	CHECK(value_equal(value_text(arena, ""), value_blob_borrowed(arena, NULL, 0)));
	CHECK(value_equal(NULL, NULL) && !value_equal(NULL, value_nil(arena)));
	CHECK(!value_equal(value_bool(arena, true), value_bool(arena, false)));
}

TEST(lists_are_equal_in_order)
{
	WITH_ARENA(arena);
	struct value *a = value_list(arena);
	struct value *b = value_list(arena);

	CHECK(value_equal(a, b));
	(void)value_list_add(arena, a, value_int(arena, 1));
	CHECK(!value_equal(a, b));
	(void)value_list_add(arena, b, value_real(arena, 1));
	CHECK(value_equal(a, b));
	(void)value_list_add(arena, a, value_int(arena, 2));
	(void)value_list_add(arena, b, value_int(arena, 3));
	CHECK(!value_equal(a, b));
}

static struct value *map_of(struct arena *arena, int count, int step, int changed)
{
	struct value *map = value_map(arena);

	for (int i = 0; i < count; i++) {
		int number = (int)((long)i * step % count);
		char key[16];

		(void)snprintf(key, sizeof(key), "key%d", number);
		(void)value_map_put(
			arena, map, key, value_int(arena, number == changed ? -1 : number));
	}
	return map;
}

TEST(maps_are_equal_in_any_order_small_or_large)
{
	static const int counts[] = { 1, 5, 15, 16, 17, 101, 20011 };
	WITH_ARENA(arena);

	for (size_t i = 0; i < 7; i++) {
		int count = counts[i];
		struct value *map = map_of(arena, count, 1, -1);

		CHECK(value_equal(map, map_of(arena, count, count > 7 ? 7 : 1, -1)));
		CHECK(!value_equal(map, map_of(arena, count, 1, count / 2)));
		CHECK(!value_equal(map, map_of(arena, count + 1, 1, -1)));
	}
	CHECK(value_ok(arena));
}

TEST(comparing_large_maps_works_without_memory_too)
{
	WITH_ARENA(arena);
	struct value *a = map_of(arena, 100, 1, -1);
	struct value *b = map_of(arena, 100, 7, -1);
	struct value *c = map_of(arena, 100, 7, 50);

	FAULT_LOOP(FAULT_ALLOC) {
		CHECK(value_equal(a, b));
		CHECK(!value_equal(a, c));
	}
}
