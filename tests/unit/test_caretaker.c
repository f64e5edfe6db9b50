#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/record/caretaker.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/store_sample.h"

#define CHORES 5

struct task {
	struct chore chore;
	bool ran, endless, fails;
	int64_t runs; /* that it saw in the store */
	int nice;
	unsigned told;
	enum err_code code;
};

static struct task tasks[CHORES];
static unsigned told;

static int work(struct chore *chore, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct task *task = container_of(chore, struct task, chore);
	struct arena arena;
	struct value *status = NULL;

	task->ran = true;
	task->nice = getpriority(PRIO_PROCESS, 0);
	while (task->endless && !atomic_load(stop))
		(void)usleep(1000);
	if (task->endless)
		return err_set(err, ERR_CLOSED, "broken off");
	if (task->fails)
		return err_set(err, ERR_CORRUPT, "it cannot be done");
	arena_init(&arena, 1 << 20);
	if (store_status(store, &arena, &status, err) == 0)
		task->runs = value_as_int(value_get(status, "runs"), -1);
	arena_done(&arena);
	return 0;
}

static void on_done(struct chore *chore, const struct err *err)
{
	struct task *task = container_of(chore, struct task, chore);

	task->told = ++told;
	task->code = err ? err->code : ERR_NONE;
}

static void put(struct caretaker *caretaker, unsigned number)
{
	tasks[number].chore.run = work;
	tasks[number].chore.done = on_done;
	caretaker_put(caretaker, &tasks[number].chore);
}

static bool wait_for(uv_loop_t *loop, unsigned count)
{
	int64_t until = clock_ms() + 10000;

	while (told < count && clock_ms() < until) {
		(void)uv_run(loop, UV_RUN_NOWAIT);
		(void)usleep(500);
	}
	return told == count;
}

static void begin(struct shop *shop, uv_loop_t *loop)
{
	told = 0;
	for (unsigned i = 0; i < CHORES; i++)
		tasks[i] = (struct task){ .ran = false };
	shop_init(shop);
	(void)uv_loop_init(loop);
}

static void end(uv_loop_t *loop, struct caretaker *caretaker)
{
	caretaker_close(caretaker);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(loop), 0);
}

TEST(chores_are_done_in_order_with_the_store_in_hand_and_told_in_the_loop)
{
	struct caretaker *caretaker;
	auto_shop struct shop shop;
	uv_loop_t loop;

	begin(&shop, &loop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	caretaker = caretaker_start(&loop, shop.folder, &shop.err);
	CHECK(caretaker);
	tasks[1].fails = true;
	for (unsigned i = 0; i < CHORES; i++)
		put(caretaker, i);
	CHECK_EQ_INT(told, 0);
	CHECK(wait_for(&loop, CHORES));
	for (unsigned i = 0; i < CHORES; i++) {
		CHECK_EQ_INT(tasks[i].told, i + 1);
		CHECK_EQ_INT(tasks[i].code, i == 1 ? ERR_CORRUPT : ERR_NONE);
		CHECK_EQ_INT(tasks[i].runs, i == 1 ? 0 : 1);
		CHECK_EQ_INT(tasks[i].nice, 19);
	}
	CHECK(getpriority(PRIO_PROCESS, 0) < 19); /* of that thread alone */
	end(&loop, caretaker);
}

TEST(closing_breaks_off_what_runs_and_tells_those_that_wait)
{
	struct caretaker *caretaker;
	auto_shop struct shop shop;
	uv_loop_t loop;

	begin(&shop, &loop);
	caretaker = caretaker_start(&loop, shop.folder, &shop.err);
	CHECK(caretaker);
	tasks[0].endless = true;
	put(caretaker, 0);
	put(caretaker, 1);
	(void)usleep(20000);
	end(&loop, caretaker);
	CHECK_EQ_INT(told, 2);
	CHECK_EQ_INT(tasks[0].code, ERR_CLOSED);
	CHECK(!tasks[1].ran);
	CHECK_EQ_INT(tasks[1].code, ERR_CLOSED);
	caretaker_close(NULL);
}

TEST(a_store_that_is_not_there_is_told_to_each_chore)
{
	struct caretaker *caretaker;
	auto_shop struct shop shop;
	uv_loop_t loop;

	begin(&shop, &loop);
	caretaker = caretaker_start(&loop, "/nonexistent", &shop.err);
	CHECK(caretaker);
	put(caretaker, 0);
	put(caretaker, 1);
	CHECK(wait_for(&loop, 2));
	CHECK(!tasks[0].ran && !tasks[1].ran);
	CHECK_EQ_INT(tasks[0].code, ERR_MISSING);
	CHECK_EQ_INT(tasks[1].code, ERR_MISSING);
	end(&loop, caretaker);
}

TEST(without_memory_there_is_no_caretaker)
{
	struct err err = ERR_INIT;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	for (unsigned nth = 1; nth <= 2; nth++) {
		fault_arm(FAULT_ALLOC, nth);
		CHECK(caretaker_start(&loop, "/nonexistent", &err) == NULL);
		fault_disarm();
		CHECK_EQ_INT(err.code, ERR_MEMORY);
	}
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}
