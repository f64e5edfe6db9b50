#include <string.h>

#include "proto/pointer.h"
#include "tests/arena.h"
#include "tests/check.h"

TEST(the_root_is_the_empty_pointer)
{
	WITH_ARENA(arena);

	CHECK_STR(place_text(arena, NULL), "");
}

TEST(keys_and_items_follow_each_other)
{
	WITH_ARENA(arena);
	struct place files = place_key(NULL, "files", 5);
	struct place item = place_item(&files, 3);
	struct place path = place_key(&item, "path", 4);

	CHECK_STR(place_text(arena, &path), "/files/3/path");
}

TEST(tildes_and_slashes_are_escaped)
{
	WITH_ARENA(arena);
	struct place first = place_key(NULL, "a/b~c", 5);
	struct place second = place_key(&first, "", 0);

	CHECK_STR(place_text(arena, &second), "/a~1b~0c/");
}

TEST(a_long_key_is_cut_behind_a_whole_character)
{
	WITH_ARENA(arena);
	char key[300];
	struct place place = place_key(NULL, key, sizeof(key));
	const char *text;

	memset(key, 'x', sizeof(key));
	memcpy(key + POINTER_KEY_MAX - 1, "\xc3\xa4", 2);
	text = place_text(arena, &place);
	CHECK(text);
	CHECK_EQ_INT(strlen(text), 1 + POINTER_KEY_MAX - 1 + 3);
	CHECK_STR(text + strlen(text) - 4, "x...");
}

TEST(a_full_arena_gives_null)
{
	struct arena arena;
	struct place place = place_key(NULL, "key", 3);

	arena_init(&arena, 1);
	CHECK(!place_text(&arena, &place));
	arena_done(&arena);
}
