#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/slice.h"
#include "tests/check.h"

/* The first fields of struct sched_attr. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static struct attributes now(void)
{
	struct attributes attributes;

	memset(&attributes, 0, sizeof(attributes));
	(void)syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0);
	return attributes;
}

/* Older kernels know none. */
static bool has_slices(void)
{
	struct utsname host;
	int major = 0, minor = 0;

	if (uname(&host) < 0 || sscanf(host.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 12);
}

TEST(a_thread_gets_the_slice_that_it_asks_for)
{
	slice_ask(150);
	if (has_slices())
		CHECK_EQ_INT(now().runtime_ns, 150000);
	CHECK_EQ_INT(now().policy, SCHED_OTHER);
}

TEST(what_it_starts_has_an_ordinary_one)
{
	int status = 0;
	pid_t child;

	slice_ask(150);
	child = fork();
	if (child == 0)
		_exit(now().runtime_ns != 150000 || !has_slices() ? 0 : 1);
	CHECK(child > 0);
	CHECK_EQ_INT(waitpid(child, &status, 0), child);
	CHECK_EQ_INT(status, 0);
}

TEST(its_priority_stays)
{
	CHECK_EQ_INT(setpriority(PRIO_PROCESS, 0, 5), 0);
	slice_ask(150);
	CHECK_EQ_INT(now().nice, 5);
}

TEST(a_thread_with_another_policy_keeps_it)
{
	const struct sched_param none = { 0 };

	CHECK_EQ_INT(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	slice_ask(150);
	CHECK_EQ_INT(now().policy, SCHED_IDLE);
}
