#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/loop/loop.h"
#include "proto/base/clock.h"
#include "tests/check.h"
#include "tests/fault.h"

/* Recorded by the callbacks. */
struct seen {
	unsigned calls;
	int events;
	struct timer *timer;
	struct watch *watch;
	unsigned close_after; /* so many calls; 0: never */
};

static void on_ready(void *owner, int events)
{
	struct seen *seen = owner;

	seen->calls++;
	seen->events = events;
	if (seen->calls == seen->close_after)
		watch_close(seen->watch);
}

static void on_due(void *owner)
{
	struct seen *seen = owner;

	seen->calls++;
	if (seen->calls == seen->close_after)
		timer_close(seen->timer);
}

/*
 * While set, epoll_ctl() fails for us and libuv as if other programs of this user had taken all
 * places in epoll sets.  They also take any place that is freed, at once.
 */
static bool places_are_gone;

int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	long result = syscall(SYS_epoll_ctl, set, op, fd, event);

	if (result == 0 && op == EPOLL_CTL_ADD && places_are_gone) {
		(void)syscall(SYS_epoll_ctl, set, EPOLL_CTL_DEL, fd, event);
		errno = ENOSPC;
		return -1;
	}
	return (int)result;
}

static void close_loop(uv_loop_t *loop)
{
	(void)uv_run(loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(loop), 0);
}

TEST(a_watch_tells_what_can_be_done_and_only_what_is_wanted)
{
	struct seen seen = { 0 };
	uv_loop_t loop;
	int ends[2];

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	seen.watch = watch_new(&loop, ends[0], UV_READABLE, on_ready, &seen);
	CHECK(seen.watch != NULL);
	CHECK_EQ_INT(watch_fd(seen.watch), ends[0]);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.calls, 0);
	CHECK_EQ_INT(write(ends[1], "x", 1), 1);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.events, UV_READABLE);
	watch_want(seen.watch, 0);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.calls, 1);
	watch_want(seen.watch, UV_WRITABLE);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.events, UV_WRITABLE);
	watch_close(seen.watch);
	close(ends[1]);
	close_loop(&loop);
}

TEST(a_watch_that_is_closed_closes_its_descriptor_at_once_and_calls_no_more)
{
	struct seen seen = { .close_after = 1 };
	uv_loop_t loop;
	int ends[2];

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	seen.watch = watch_new(&loop, ends[0], UV_READABLE | UV_WRITABLE, on_ready, &seen);
	CHECK_EQ_INT(write(ends[1], "x", 1), 1);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK(fcntl(ends[0], F_GETFD) < 0);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.calls, 1);
	watch_close(NULL);
	close(ends[1]);
	close_loop(&loop);
}

TEST(a_watch_takes_its_descriptor_also_when_it_cannot_be_made)
{
	uv_loop_t loop;
	int ends[2];

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	FAULT_LOOP(FAULT_ALLOC) {
		struct seen seen = { 0 };

		CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		seen.watch = watch_new(&loop, ends[0], UV_READABLE, on_ready, &seen);
		CHECK(seen.watch || fault_hit());
		CHECK(seen.watch || fcntl(ends[0], F_GETFD) < 0);
		watch_close(seen.watch);
		close(ends[1]);
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	}
	close_loop(&loop);
}

TEST(where_the_kernel_has_no_place_left_a_new_watch_fails_and_the_others_go_on)
{
	struct seen seen = { 0 };
	struct seen none = { 0 };
	uv_loop_t loop;
	int ends[2];
	int more[2];

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, more), 0);
	seen.watch = watch_new(&loop, ends[0], UV_READABLE, on_ready, &seen);
	(void)uv_run(&loop, UV_RUN_NOWAIT);

	places_are_gone = true;
	CHECK(watch_new(&loop, more[0], UV_READABLE, on_ready, &none) == NULL);
	CHECK(fcntl(more[0], F_GETFD) < 0);
	CHECK(loop_hold_place(&loop, more[1], NULL) < 0);
	for (unsigned turn = 1; turn <= 3; turn++) {
		watch_want(seen.watch, 0);
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		watch_want(seen.watch, UV_READABLE | UV_WRITABLE);
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		CHECK_EQ_INT(seen.calls, turn);
	}
	places_are_gone = false;

	none.watch = watch_new(&loop, more[1], UV_READABLE, on_ready, &none);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(none.calls, 1); /* its other end is closed */
	watch_close(seen.watch);
	watch_close(none.watch);
	close(ends[1]);
	close_loop(&loop);
}

TEST(a_watch_that_waits_for_nothing_is_quiet_when_the_other_end_goes)
{
	struct seen seen = { 0 };
	uv_loop_t loop;
	int ends[2];

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	seen.watch = watch_new(&loop, ends[0], UV_READABLE, on_ready, &seen);
	watch_want(seen.watch, 0);
	close(ends[1]);
	for (unsigned turn = 0; turn < 3; turn++)
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.calls, 0);
	watch_want(seen.watch, UV_READABLE);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(seen.calls, 1);
	watch_close(seen.watch);
	close_loop(&loop);
}

struct pair {
	struct watch *watches[2];
	unsigned calls;
};

static void on_either(void *owner, int events)
{
	struct pair *pair = owner;

	(void)events;
	pair->calls++;
	watch_close(pair->watches[0]);
	watch_close(pair->watches[1]);
	pair->watches[0] = pair->watches[1] = NULL;
}

TEST(of_two_watches_that_are_ready_together_one_may_close_the_other)
{
	struct pair pair = { { NULL, NULL }, 0 };
	uv_loop_t loop;
	int ends[2];

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	for (unsigned i = 0; i < 2; i++)
		pair.watches[i] = watch_new(&loop, ends[i], UV_WRITABLE, on_either, &pair);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(pair.calls, 1);
	close_loop(&loop);
}

TEST(a_file_that_cannot_be_polled_gives_no_watch)
{
	struct seen seen = { 0 };
	uv_loop_t loop;
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	CHECK(watch_new(&loop, fd, UV_READABLE, on_ready, &seen) == NULL);
	CHECK(fcntl(fd, F_GETFD) < 0);
	close_loop(&loop);
}

TEST(a_timer_fires_once_and_can_be_set_again)
{
	struct seen seen = { 0 };
	uv_loop_t loop;
	int64_t began_ms = clock_ms();

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	seen.timer = timer_new(&loop, 20, 0, on_due, &seen);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(seen.calls, 1);
	CHECK(clock_ms() - began_ms >= 19);
	timer_set(seen.timer, 0);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(seen.calls, 2);
	timer_close(seen.timer);
	timer_close(NULL);
	close_loop(&loop);
}

TEST(a_timer_repeats_until_it_is_closed_from_its_own_call)
{
	struct seen seen = { .close_after = 3 };
	uv_loop_t loop;

	CHECK_EQ_INT(uv_loop_init(&loop), 0);
	seen.timer = timer_new(&loop, 1, 1, on_due, &seen);
	close_loop(&loop);
	CHECK_EQ_INT(seen.calls, 3);
}

/* Work for a thread.  The loop's thread must not touch it meanwhile. */
struct job {
	int begun, done;
};

static void do_work(void *context)
{
	struct job *job = context;

	job->begun++;
}

static void work_done(void *context)
{
	struct job *job = context;

	job->done = job->begun;
}

TEST(work_is_done_on_a_thread_and_told_in_the_loop)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct job job = { 0 };
		uv_loop_t loop;
		int started;

		CHECK_EQ_INT(uv_loop_init(&loop), 0);
		started = work_start(&loop, do_work, work_done, &job);
		CHECK(started == 0 || fault_hit());
		close_loop(&loop);
		CHECK_EQ_INT(job.done, started == 0);
	}
}
