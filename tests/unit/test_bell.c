#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "daemon/loop/bell.h"
#include "tests/check.h"
#include "tests/fault.h"

#define RINGS 1000

static struct err err = ERR_INIT;

/* What threads leave for the loop, and what the loop has heard of. */
struct desk {
	struct bell *bell;
	pthread_mutex_t lock;
	unsigned left; /* lock */
	unsigned heard;
	unsigned times;
};

static void on_rung(void *owner)
{
	struct desk *desk = owner;

	desk->times++;
	pthread_mutex_lock(&desk->lock);
	desk->heard += desk->left;
	desk->left = 0;
	pthread_mutex_unlock(&desk->lock);
}

static void *leave_and_ring(void *context)
{
	struct desk *desk = context;

	for (unsigned i = 0; i < RINGS; i++) {
		pthread_mutex_lock(&desk->lock);
		desk->left++;
		pthread_mutex_unlock(&desk->lock);
		bell_ring(desk->bell);
	}
	return NULL;
}

static void hang_bell(struct desk *desk, uv_loop_t *loop)
{
	CHECK_EQ_INT(uv_loop_init(loop), 0);
	desk->bell = bell_new(loop, on_rung, desk, &err);
	CHECK(desk->bell);
}

static void close_loop(uv_loop_t *loop)
{
	(void)uv_run(loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(loop), 0);
}

TEST(the_loop_hears_everything_that_threads_leave)
{
	struct desk desk = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t threads[2];
	uv_loop_t loop;

	hang_bell(&desk, &loop);
	for (size_t i = 0; i < 2; i++)
		CHECK_EQ_INT(pthread_create(&threads[i], NULL, leave_and_ring, &desk), 0);
	while (desk.heard < 2 * RINGS)
		(void)uv_run(&loop, UV_RUN_ONCE);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ_INT(desk.heard, 2 * RINGS);
	bell_close(desk.bell);
	close_loop(&loop);
}

TEST(rings_that_were_not_heard_yet_are_heard_once)
{
	struct desk desk = { .lock = PTHREAD_MUTEX_INITIALIZER };
	uv_loop_t loop;

	hang_bell(&desk, &loop);
	(void)leave_and_ring(&desk);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(desk.times, 1);
	CHECK_EQ_INT(desk.heard, RINGS);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(desk.times, 1);
	bell_close(desk.bell);
	close_loop(&loop);
}

TEST(a_bell_that_was_closed_is_not_heard)
{
	struct desk desk = { .lock = PTHREAD_MUTEX_INITIALIZER };
	uv_loop_t loop;

	hang_bell(&desk, &loop);
	(void)leave_and_ring(&desk);
	bell_close(desk.bell);
	bell_close(NULL);
	close_loop(&loop);
	CHECK_EQ_INT(desk.times, 0);
}

TEST(without_memory_or_descriptors_there_is_no_bell)
{
	struct desk desk = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct rlimit limit;
	struct rlimit none;
	uv_loop_t loop;

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	for (unsigned nth = 1; nth <= 2; nth++) {
		fault_arm(FAULT_ALLOC, nth);
		CHECK(bell_new(&loop, on_rung, &desk, &err) == NULL);
		fault_disarm();
	}
	CHECK_EQ_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	CHECK_EQ_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK(bell_new(&loop, on_rung, &desk, &err) == NULL);
	CHECK_EQ_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_EQ_INT(err.sys_errno, EMFILE);
	close_loop(&loop);
}
