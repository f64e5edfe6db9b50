#include <stdint.h>
#include <string.h>

#include "proto/base/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

#define MEGABYTE ((size_t)1 << 20)

TEST(memory_from_an_arena_is_zeroed_and_aligned)
{
	struct arena arena;
	bool clean = true;

	arena_init(&arena, MEGABYTE);
	for (size_t size = 1; size < 600; size++) {
		char *piece = arena_alloc(&arena, size);

		clean = clean && piece && (uintptr_t)piece % _Alignof(max_align_t) == 0;
		for (size_t i = 0; clean && i < size; i++)
			clean = piece[i] == 0;
		if (clean)
			memset(piece, 0xff, size);
	}
	arena_done(&arena);
	CHECK(clean);
}

TEST(pieces_of_an_arena_do_not_overlap)
{
	enum {
		COUNT = 500
	};
	unsigned char *pieces[COUNT];
	struct arena arena;
	bool whole = true;

	arena_init(&arena, 16 * MEGABYTE);
	for (size_t i = 0; i < COUNT; i++) {
		pieces[i] = arena_alloc(&arena, 1 + i * 37);
		if (pieces[i])
			memset(pieces[i], (int)(i % 251), 1 + i * 37);
	}
	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; pieces[i] && j < 1 + i * 37; j++)
			whole = whole && pieces[i][j] == i % 251;
	CHECK(pieces[COUNT - 1]);
	arena_done(&arena);
	CHECK(whole);
}

TEST(a_size_of_zero_gives_a_pointer)
{
	struct arena arena;
	bool given;

	arena_init(&arena, MEGABYTE);
	given = arena_alloc(&arena, 0) && arena_calloc(&arena, 0, 8);
	arena_done(&arena);
	CHECK(given);
}

TEST(an_arena_never_passes_its_ceiling)
{
	struct arena arena;
	size_t pieces = 0;

	arena_init(&arena, 100000);
	while (arena_alloc(&arena, 100))
		pieces++;
	CHECK(arena.used <= arena.ceiling);
	CHECK(arena.failed);
	arena_done(&arena);
	CHECK(pieces > 600 && pieces < 1000);
}

TEST(a_piece_larger_than_the_ceiling_is_refused_and_the_rest_still_served)
{
	struct arena arena;
	void *large;
	void *small;

	arena_init(&arena, 1000);
	large = arena_alloc(&arena, 1001);
	small = arena_alloc(&arena, 100);
	arena_done(&arena);
	CHECK(!large);
	CHECK(small);
}

TEST(sizes_that_overflow_are_refused)
{
	volatile size_t huge = SIZE_MAX;
	struct arena arena;
	void *pieces[4];

	arena_init(&arena, SIZE_MAX);
	pieces[0] = arena_alloc(&arena, huge);
	pieces[1] = arena_alloc(&arena, huge - 8);
	pieces[2] = arena_calloc(&arena, huge / 2, 3);
	pieces[3] = arena_copy(&arena, "", huge);
	arena_done(&arena);
	CHECK(!pieces[0] && !pieces[1] && !pieces[2] && !pieces[3]);
}

TEST(an_arena_can_be_used_again_after_done)
{
	struct arena arena;
	bool good = true;

	arena_init(&arena, 1000);
	for (int round = 0; round < 5; round++) {
		good = good && arena_alloc(&arena, 800) && !arena_alloc(&arena, 800);
		arena_done(&arena);
		arena_done(&arena);
		good = good && !arena.failed && arena.used == 0;
	}
	CHECK(good);
}

TEST(copies_end_with_a_nul_that_is_not_counted)
{
	struct arena arena;
	char *copy;
	char *text;
	char *printed;
	bool good;

	arena_init(&arena, MEGABYTE);
	copy = arena_copy(&arena, "a\0b", 3);
	text = arena_strdup(&arena, "hello");
	printed = arena_printf(&arena, "%s %d", "number", 42);
	good = copy && memcmp(copy, "a\0b\0", 4) == 0 && text && strcmp(text, "hello") == 0 &&
	       printed && strcmp(printed, "number 42") == 0;
	arena_done(&arena);
	CHECK(good);
}

TEST(printing_past_the_ceiling_is_refused)
{
	struct arena arena;
	char *text;

	arena_init(&arena, 200);
	text = arena_printf(&arena, "%0300d", 1);
	arena_done(&arena);
	CHECK(!text);
}

TEST(an_arena_without_memory_refuses_and_stays_usable)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct arena arena;
		bool whole = true;

		arena_init(&arena, MEGABYTE);
		for (size_t i = 0; i < 20; i++)
			whole = arena_alloc(&arena, 3000) && whole;
		CHECK(whole == !arena.failed);
		CHECK(whole || fault_hit());
		fault_disarm();
		CHECK(arena_alloc(&arena, 3000));
		arena_done(&arena);
	}
}
