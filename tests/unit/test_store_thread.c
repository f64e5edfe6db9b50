#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/record/store_thread.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/store_sample.h"

#define JOBS 5

struct job {
	struct store_task task;
	bool ran, endless, fails;
	int64_t runs; /* that the task saw in the store */
	int nice;
	unsigned told;
	enum err_code code;
};

static struct job jobs[JOBS];
static unsigned told;

static int work(
	struct store_task *task, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct job *job = container_of(task, struct job, task);
	struct arena arena;
	struct value *status = NULL;

	job->ran = true;
	job->nice = getpriority(PRIO_PROCESS, 0);
	while (job->endless && !atomic_load(stop))
		(void)usleep(1000);
	if (job->endless)
		return err_set(err, ERR_CLOSED, "broken off");
	if (job->fails)
		return err_set(err, ERR_CORRUPT, "it cannot be done");
	arena_init(&arena, 1 << 20);
	if (store_status(store, &arena, &status, err) == 0)
		job->runs = value_as_int(value_get(status, "runs"), -1);
	arena_done(&arena);
	return 0;
}

static void on_done(struct store_task *task, const struct err *err)
{
	struct job *job = container_of(task, struct job, task);

	job->told = ++told;
	job->code = err ? err->code : ERR_NONE;
}

static void put(struct store_thread *thread, unsigned number)
{
	jobs[number].task.run = work;
	jobs[number].task.done = on_done;
	store_thread_put(thread, &jobs[number].task);
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
	for (unsigned i = 0; i < JOBS; i++)
		jobs[i] = (struct job){ .ran = false };
	shop_init(shop);
	(void)uv_loop_init(loop);
}

static void end(uv_loop_t *loop, struct store_thread *thread)
{
	store_thread_close(thread);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(loop), 0);
}

TEST(tasks_are_done_in_order_with_the_store_in_hand_and_told_in_the_loop)
{
	struct store_thread *thread;
	auto_shop struct shop shop;
	uv_loop_t loop;

	begin(&shop, &loop);
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	thread = store_thread_start(&loop, shop.folder, &shop.err);
	CHECK(thread);
	jobs[1].fails = true;
	for (unsigned i = 0; i < JOBS; i++)
		put(thread, i);
	CHECK_EQ_INT(told, 0);
	CHECK(wait_for(&loop, JOBS));
	for (unsigned i = 0; i < JOBS; i++) {
		CHECK_EQ_INT(jobs[i].told, i + 1);
		CHECK_EQ_INT(jobs[i].code, i == 1 ? ERR_CORRUPT : ERR_NONE);
		CHECK_EQ_INT(jobs[i].runs, i == 1 ? 0 : 1);
		CHECK_EQ_INT(jobs[i].nice, 19);
	}
	CHECK(getpriority(PRIO_PROCESS, 0) < 19); /* only that thread */
	end(&loop, thread);
}

TEST(closing_breaks_off_what_runs_and_tells_those_that_wait)
{
	struct store_thread *thread;
	auto_shop struct shop shop;
	uv_loop_t loop;

	begin(&shop, &loop);
	thread = store_thread_start(&loop, shop.folder, &shop.err);
	CHECK(thread);
	jobs[0].endless = true;
	put(thread, 0);
	put(thread, 1);
	(void)usleep(20000);
	end(&loop, thread);
	CHECK_EQ_INT(told, 2);
	CHECK_EQ_INT(jobs[0].code, ERR_CLOSED);
	CHECK(!jobs[1].ran);
	CHECK_EQ_INT(jobs[1].code, ERR_CLOSED);
	store_thread_close(NULL);
}

TEST(a_store_that_is_not_there_is_told_to_each_task)
{
	struct store_thread *thread;
	auto_shop struct shop shop;
	uv_loop_t loop;

	begin(&shop, &loop);
	thread = store_thread_start(&loop, "/nonexistent", &shop.err);
	CHECK(thread);
	put(thread, 0);
	put(thread, 1);
	CHECK(wait_for(&loop, 2));
	CHECK(!jobs[0].ran && !jobs[1].ran);
	CHECK_EQ_INT(jobs[0].code, ERR_MISSING);
	CHECK_EQ_INT(jobs[1].code, ERR_MISSING);
	end(&loop, thread);
}

TEST(without_memory_there_is_no_caretaker)
{
	struct err err = ERR_INIT;
	uv_loop_t loop;

	(void)uv_loop_init(&loop);
	for (unsigned nth = 1; nth <= 3; nth++) {
		fault_arm(FAULT_ALLOC, nth);
		CHECK(store_thread_start(&loop, "/nonexistent", &err) == NULL);
		fault_disarm();
		CHECK_EQ_INT(err.code, ERR_MEMORY);
	}
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
}
