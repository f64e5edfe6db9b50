#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "sandbox/filter/syscalls.h"
#include "sandbox/filter/tiny_filter.h"
#include "tests/check.h"
#include "tests/unit/bpf.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;
static struct sock_filter code[TINY_FILTER_MAX];

static uint32_t answer(int nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	const uint64_t args[6] = { arg0, arg1, arg2, 0, 0, 0 };
	struct seccomp_data data = bpf_call(nr, args);

	return bpf_stricter(bpf_run(code, tiny_filter_build(TINY_NOTIFY, NULL, code), &data),
		bpf_run(code, tiny_filter_build(TINY_LAST, NULL, code), &data));
}

TEST(it_fits_with_room_to_spare)
{
	for (unsigned part = 0; part < TINY_PART_COUNT; part++) {
		size_t len = tiny_filter_build(part, NULL, code);

		printf("# part %u: %zu instructions\n", part, len);
		CHECK(len < TINY_FILTER_MAX / 2 + TINY_FILTER_MAX / 4);
	}
}

TEST(it_takes_back_what_zygote_and_slot_needed)
{
	const struct syscall_group *group;

	for (size_t i = 0; (group = syscall_own_group_at(FILTER_ZYGOTE, i)); i++)
		for (size_t k = 0; k < group->call_count; k++)
			CHECK(answer(group->calls[k], UINT64_MAX, UINT64_MAX, UINT64_MAX) !=
				VERDICT_ALLOW);
}

TEST(it_says_nothing_about_what_a_program_may_do)
{
	for (int nr = 0; nr < 1024; nr++) {
		const struct syscall_group *group = syscall_group_of(FILTER_JOB, nr);

		if (group && group == syscall_group_of(FILTER_ZYGOTE, nr) &&
			(group->verdict == VERDICT_ALLOW || group->rule_count > 0))
			CHECK_EQ_INT(answer(nr, 1, 2, 3), VERDICT_ALLOW);
	}
}

/* ---- loaded, in a forked child --------------------------------------------------------------- */

typedef int (*attempt_fn)(void);

/* Returns what the attempt returned under the filter, or minus the signal that ended it. */
static int attempt(attempt_fn run)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		int listener = -1;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			tiny_filter_load(&listener, &err) < 0)
			_exit(255);
		/* without a listener the kernel answers these calls itself */
		if (listener >= 0)
			close(listener);
		if (listener >= 0 && tiny_filter_close(&err) < 0)
			_exit(255);
		_exit(run());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1000;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int errno_of(long answered)
{
	return answered < 0 ? errno : 0;
}

static int try_clone3(void)
{
	return errno_of(syscall(SYS_clone3, NULL, 0));
}

static int try_fork(void)
{
	return errno_of(fork());
}

static int try_unshare(void)
{
	return errno_of(unshare(CLONE_NEWUSER));
}

static int try_second_filter(void)
{
	return errno_of(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0));
}

static int try_seccomp(void)
{
	return errno_of(syscall(SYS_seccomp, 1, 0, NULL));
}

static int try_raise_limit(void)
{
	struct rlimit limit = { 10, 10 };

	return errno_of(prlimit(0, RLIMIT_NOFILE, &limit, NULL));
}

static int try_read_limit(void)
{
	struct rlimit limit;

	return errno_of(prlimit(0, RLIMIT_NOFILE, NULL, &limit));
}

static int try_name(void)
{
	char name[16];

	return errno_of(prctl(PR_GET_NAME, name, 0, 0, 0));
}

static int try_exec(void)
{
	char name[] = "true";
	char *argv[] = { name, NULL };

	return errno_of(execve("/bin/true", argv, NULL));
}

TEST(under_it_the_kernel_refuses_and_calls_that_nobody_hears_do_not_pass)
{
	if (is_emulated())
		SKIP("the kernel is not asked here");
	CHECK_EQ_INT(attempt(try_clone3), ENOSYS);
	CHECK_EQ_INT(attempt(try_fork), ENOSYS);
	CHECK_EQ_INT(attempt(try_unshare), ENOSYS);
	CHECK_EQ_INT(attempt(try_second_filter), EPERM);
	CHECK_EQ_INT(attempt(try_seccomp), ENOSYS);
	CHECK_EQ_INT(attempt(try_raise_limit), EPERM);
	CHECK_EQ_INT(attempt(try_read_limit), 0);
	CHECK_EQ_INT(attempt(try_name), 0);
	CHECK_EQ_INT(attempt(try_exec), ENOSYS);
}

static int measure_load(void)
{
	int64_t begin_us = clock_us();
	int listener = -1;

	(void)tiny_filter_load(&listener, &err);
	(void)tiny_filter_close(&err);
	printf("# loading takes %lld us\n", (long long)(clock_us() - begin_us));
	(void)fflush(stdout);
	return 0;
}

TEST(loading_costs_microseconds)
{
	int status = -1;
	pid_t pid;

	if (is_emulated())
		SKIP("the kernel is not asked here");
	tiny_filter_prepare(NULL);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(measure_load());
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}
