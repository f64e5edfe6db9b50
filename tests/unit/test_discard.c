#include <stdlib.h>

#include "daemon/loop/discard.h"
#include "tests/check.h"
#include "tests/fault.h"

/* A leak fails only under the address sanitizer; the checks show that the arena is usable again. */
static void give_back(size_t size, uv_loop_t *loop)
{
	struct arena arena;

	arena_init(&arena, (size_t)64 << 20);
	for (size_t at = 0; at < size; at += 4096)
		CHECK(arena_alloc(&arena, 4096));
	discard(loop, &arena, malloc(10));
	CHECK_EQ_INT(arena.used, 0);
	CHECK(arena_alloc(&arena, 10));
	arena_done(&arena);
}

TEST(little_and_much_is_given_back)
{
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	give_back(0, &loop);
	give_back(1 << 20, &loop);
	CHECK(!uv_loop_alive(&loop));
	give_back(32 << 20, NULL);
	give_back(32 << 20, &loop);
	CHECK(uv_loop_alive(&loop));
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}

TEST(without_memory_for_a_thread_it_is_given_back_at_once)
{
	struct arena arena;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	arena_init(&arena, (size_t)64 << 20);
	CHECK(arena_alloc(&arena, 8 << 20));
	fault_arm(FAULT_ALLOC, 1);
	discard(&loop, &arena, NULL);
	fault_disarm();
	CHECK(!uv_loop_alive(&loop));
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}
