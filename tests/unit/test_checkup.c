#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/record/checkup.h"
#include "proto/base/clock.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

static struct checkup checkup;

static bool wait_for_look(uv_loop_t *loop, int64_t after_us)
{
	int64_t until = clock_ms() + 10000;

	while ((!checkup.has_looked || checkup.at_wall_us <= after_us) && clock_ms() < until) {
		(void)uv_run(loop, UV_RUN_NOWAIT);
		(void)usleep(500);
	}
	return checkup.has_looked && checkup.at_wall_us > after_us;
}

static void end(uv_loop_t *loop, struct caretaker *caretaker)
{
	checkup_stop(&checkup);
	caretaker_close(caretaker);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(loop), 0);
}

TEST(a_store_is_looked_at_again_and_again)
{
	struct caretaker *caretaker;
	auto_shop struct shop shop;
	struct value *told;
	uv_loop_t loop;

	shop_init(&shop);
	(void)uv_loop_init(&loop);
	caretaker = caretaker_start(&loop, shop.folder, &shop.err);
	CHECK(caretaker);
	checkup_start(&checkup, &loop, caretaker, 20);
	CHECK(value_is(checkup_describe(&checkup, &shop.arena), VALUE_NIL));
	CHECK(wait_for_look(&loop, 0));
	told = checkup_describe(&checkup, &shop.arena);
	CHECK_EQ_INT(value_as_int(value_get(told, "damages"), -1), 0);
	CHECK(value_as_int(value_get(told, "at_us"), 0) > 0);
	CHECK(value_get(told, "first") == NULL && value_get(told, "failed") == NULL);
	CHECK(wait_for_look(&loop, checkup.at_wall_us));
	end(&loop, caretaker);
}

TEST(an_interval_of_zero_is_never)
{
	struct caretaker *caretaker;
	auto_shop struct shop shop;
	uv_loop_t loop;

	shop_init(&shop);
	(void)uv_loop_init(&loop);
	caretaker = caretaker_start(&loop, shop.folder, &shop.err);
	CHECK(caretaker);
	checkup_start(&checkup, &loop, caretaker, 0);
	CHECK(checkup.timer == NULL);
	end(&loop, caretaker);
	CHECK(!checkup.has_looked);
}

TEST(a_look_that_cannot_be_had_is_told_and_is_no_damage)
{
	struct caretaker *caretaker;
	auto_shop struct shop shop;
	struct value *told;
	uv_loop_t loop;

	shop_init(&shop);
	(void)uv_loop_init(&loop);
	caretaker = caretaker_start(&loop, "/nonexistent", &shop.err);
	CHECK(caretaker);
	checkup_start(&checkup, &loop, caretaker, 20);
	CHECK(wait_for_look(&loop, 0));
	told = checkup_describe(&checkup, &shop.arena);
	CHECK_EQ_INT(value_as_int(value_get(told, "damages"), -1), 0);
	CHECK(strstr(value_as_text(value_get(told, "failed")), "there is none"));
	end(&loop, caretaker);
}
