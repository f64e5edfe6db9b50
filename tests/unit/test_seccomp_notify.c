#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "sandbox/filter/tiny_filter.h"
#include "sandbox/worker/seccomp_notify.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

/* ---- a program under the filter; this process is its slot ----------------------------------- */

typedef int (*program_fn)(void);

static pid_t start(const struct notify *notify, program_fn program)
{
	pid_t pid = fork();
	int listener = -1;

	if (pid != 0)
		return pid;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || tiny_filter_load(&listener, &err) < 0)
		_exit(100);
	if (listener < 0)
		_exit(77);
	if (notify_send_listener(notify->tell, listener, &err) < 0 || tiny_filter_close(&err) < 0)
		_exit(101);
	_exit(program());
}

/*
 * Reads and answers notifications until the program ends.  Returns its wait status, and the last
 * answer in `ret_last`.
 */
static int serve(struct notify *notify, pid_t pid, enum refusal *ret_last)
{
	int status = -1;

	*ret_last = REFUSAL_NONE;
	for (int64_t until = clock_us() + 10000000; clock_us() < until;) {
		struct pollfd polls[] = { { .fd = notify->hear, .events = POLLIN },
			{ .fd = notify_is_resting(notify) ? -1 : notify->listener,
				.events = POLLIN } };

		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		(void)poll(polls, 2, 1);
		if (polls[0].revents & POLLIN)
			notify_take_listener(notify);
		if (polls[1].revents & POLLIN)
			*ret_last = notify_answer(notify);
		if (*ret_last == REFUSAL_END)
			(void)kill(pid, SIGKILL);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return -1;
}

/* Runs the program.  Returns the message about its end. */
static struct slotmsg live(program_fn program, int *ret_status, enum refusal *ret_last)
{
	struct notify notify = NOTIFY_INIT;
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_ENDED);

	*ret_status = -1;
	if (notify_open(&notify, &err) < 0)
		return msg;
	*ret_status = serve(&notify, start(&notify, program), ret_last);
	notify_report(&notify, &msg);
	notify_forget(&notify);
	(void)close(notify.hear);
	(void)close(notify.tell);
	return msg;
}

#define NEED_LISTENER(status)                                             \
	do {                                                              \
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)       \
			SKIP("somebody around us has the only listener"); \
	} while (0)

static int errno_of(long answered)
{
	return answered < 0 ? errno : 0;
}

static int ask_three_times(void)
{
	bool good = true;

	for (int i = 0; i < 3; i++)
		good = errno_of(socket(AF_INET, SOCK_STREAM, 0)) == EPERM && good;
	good = errno_of(socket(AF_NETLINK, SOCK_RAW, 0)) == EPERM && good;
	good = errno_of(syscall(SYS_setuid, 0)) == EPERM && good;
	return good ? 0 : 1;
}

TEST(what_is_refused_gets_its_errno_and_is_counted_by_kind)
{
	struct slotmsg msg;
	enum refusal last;
	int status;

	if (is_emulated())
		SKIP("the kernel is not asked here");
	msg = live(ask_three_times, &status, &last);
	NEED_LISTENER(status);
	CHECK_EQ_INT(status, 0);
	CHECK_EQ_INT(msg.refused_count, 3);
	CHECK_EQ_INT(msg.refused[0].nr, SYS_socket);
	CHECK_EQ_INT(msg.refused[0].kind, AF_INET);
	CHECK_EQ_INT(msg.refused[0].count, 3);
	CHECK_EQ_INT(msg.refused[1].kind, AF_NETLINK);
	CHECK_EQ_INT(msg.refused[2].nr, SYS_setuid);
	CHECK(msg.refused[0].first_us > 0 && msg.refused[0].first_us <= msg.refused[1].first_us);
	CHECK_EQ_INT(last, REFUSAL_ANSWERED);
}

static int trace(void)
{
	(void)syscall(SYS_ptrace, 0, 0, 0, 0);
	return 0;
}

TEST(what_ends_a_run_gets_no_answer_and_is_named)
{
	struct slotmsg msg;
	enum refusal last;
	int status;

	if (is_emulated())
		SKIP("the kernel is not asked here");
	msg = live(trace, &status, &last);
	NEED_LISTENER(status);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQ_INT(last, REFUSAL_END);
	CHECK_EQ_INT(msg.refused_count, 1);
	CHECK_EQ_INT(msg.refused[0].nr, SYS_ptrace);
	CHECK_EQ_INT(msg.refused[0].ended, 1);
}

static int ask_for_everything_then_trace(void)
{
	for (int family = 100; family < 150; family++)
		(void)syscall(SYS_socket, family, SOCK_STREAM, 0);
	return trace();
}

TEST(kinds_without_a_row_are_counted_and_the_call_that_ends_finds_one)
{
	struct slotmsg msg;
	enum refusal last;
	uint32_t sum = 0;
	int status;

	if (is_emulated())
		SKIP("the kernel is not asked here");
	msg = live(ask_for_everything_then_trace, &status, &last);
	NEED_LISTENER(status);
	CHECK_EQ_INT(msg.refused_count, SLOTMSG_REFUSED_MAX);
	CHECK_EQ_INT(msg.refused[SLOTMSG_REFUSED_MAX - 1].nr, SYS_ptrace);
	CHECK_EQ_INT(msg.refused[SLOTMSG_REFUSED_MAX - 1].ended, 1);
	for (uint32_t i = 0; i < msg.refused_count; i++)
		sum += msg.refused[i].count;
	CHECK_EQ_INT(sum + msg.refused_others, 51);
}

static int ask_on_and_on(void)
{
	int64_t until = clock_us() + 300000;

	while (clock_us() < until)
		(void)socket(AF_INET, SOCK_STREAM, 0);
	return 0;
}

TEST(after_a_thousand_answers_there_is_one_each_millisecond)
{
	struct slotmsg msg;
	enum refusal last;
	int status;

	if (is_emulated())
		SKIP("the kernel is not asked here");
	msg = live(ask_on_and_on, &status, &last);
	NEED_LISTENER(status);
	CHECK_EQ_INT(status, 0);
	printf("# %u answers in 300 ms\n", msg.refused[0].count);
	CHECK(msg.refused[0].count < NOTIFY_AT_ONCE + 400);
}

TEST(a_listener_that_was_never_taken_is_forgotten_with_its_worker)
{
	struct notify notify = NOTIFY_INIT;
	int status = -1;
	pid_t pid;

	if (is_emulated())
		SKIP("the kernel is not asked here");
	CHECK(notify_open(&notify, &err) == 0);
	pid = start(&notify, ask_three_times);
	usleep(20000);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	notify_forget(&notify);
	CHECK_EQ_INT(notify.listener, -1);
	notify_take_listener(&notify);
	CHECK_EQ_INT(notify.listener, -1);
	(void)close(notify.hear);
	(void)close(notify.tell);
}
