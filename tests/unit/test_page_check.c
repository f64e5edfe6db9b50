#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/record/page_check.h"
#include "proto/base/clock.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

static struct page_check check;

static bool wait_for_look(uv_loop_t *loop, int64_t after_us)
{
	int64_t until = clock_ms() + 10000;

	while ((!check.has_looked || check.at_wall_us <= after_us) && clock_ms() < until) {
		(void)uv_run(loop, UV_RUN_NOWAIT);
		(void)usleep(500);
	}
	return check.has_looked && check.at_wall_us > after_us;
}

static void end(uv_loop_t *loop, struct store_thread *thread)
{
	page_check_stop(&check);
	store_thread_close(thread);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(loop), 0);
}

TEST(a_store_is_looked_at_again_and_again)
{
	struct store_thread *thread;
	auto_shop struct shop shop;
	struct value *told;
	uv_loop_t loop;

	shop_init(&shop);
	(void)uv_loop_init(&loop);
	thread = store_thread_start(&loop, shop.folder, &shop.err);
	CHECK(thread);
	page_check_start(&check, &loop, thread, 20);
	CHECK(value_is(page_check_describe(&check, &shop.arena), VALUE_NIL));
	CHECK(wait_for_look(&loop, 0));
	told = page_check_describe(&check, &shop.arena);
	CHECK_EQ_INT(value_as_int(value_get(told, "damages"), -1), 0);
	CHECK(value_as_int(value_get(told, "at_us"), 0) > 0);
	CHECK(value_get(told, "first") == NULL && value_get(told, "failed") == NULL);
	CHECK(wait_for_look(&loop, check.at_wall_us));
	end(&loop, thread);
}

TEST(an_interval_of_zero_is_never)
{
	struct store_thread *thread;
	auto_shop struct shop shop;
	uv_loop_t loop;

	shop_init(&shop);
	(void)uv_loop_init(&loop);
	thread = store_thread_start(&loop, shop.folder, &shop.err);
	CHECK(thread);
	page_check_start(&check, &loop, thread, 0);
	CHECK(check.timer == NULL);
	end(&loop, thread);
	CHECK(!check.has_looked);
}

TEST(a_look_that_cannot_be_had_is_told_and_is_no_damage)
{
	struct store_thread *thread;
	auto_shop struct shop shop;
	struct value *told;
	uv_loop_t loop;

	shop_init(&shop);
	(void)uv_loop_init(&loop);
	thread = store_thread_start(&loop, "/nonexistent", &shop.err);
	CHECK(thread);
	page_check_start(&check, &loop, thread, 20);
	CHECK(wait_for_look(&loop, 0));
	told = page_check_describe(&check, &shop.arena);
	CHECK_EQ_INT(value_as_int(value_get(told, "damages"), -1), 0);
	CHECK(strstr(value_as_text(value_get(told, "failed")), "there is none"));
	end(&loop, thread);
}
