#include <string.h>
#include <sys/prctl.h>

#include "sandbox/zygote/init.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

/* In init's namespace: a process whose child and grandchild try to escape. */
__attribute__((noreturn)) static void be_hostile(int ready)
{
	for (int i = 0; i < 3; i++) {
		if (fork() != 0)
			continue;
		(void)setsid();
		if (fork() == 0) {
			(void)signal(SIGTERM, SIG_IGN);
			(void)signal(SIGHUP, SIG_IGN);
			(void)!write(ready, "g", 1);
			for (;;)
				(void)pause();
		}
		_exit(0);
	}
	(void)kill(1, SIGKILL); /* pid 1 ignores it */
	(void)!write(ready, "m", 1);
	for (;;)
		(void)pause();
}

struct family {
	int lifeline[2];
	int ready[2];
	int init_fd;
	pid_t init;
	pid_t main;
};

static pid_t fork_into(const struct family *family)
{
	pid_t pid = -1;

	if (setns(family->init_fd, CLONE_NEWPID) == 0)
		pid = fork();
	if (pid != 0)
		return pid;
	close(family->lifeline[1]); /* otherwise one family would hold the pipe of another */
	close(family->ready[0]);
	be_hostile(family->ready[1]);
}

static int start_family(struct family *family)
{
	struct err err = ERR_INIT;
	sigset_t all;
	char bytes[4];

	WANT(enter_namespaces());
	sigfillset(&all);
	WANT(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	WANT(pipe(family->lifeline) == 0 && pipe(family->ready) == 0);
	family->init = init_start(family->lifeline[0], &family->init_fd, &err);
	WANT(family->init > 0 && family->init_fd >= 0);
	WANT(close(family->lifeline[0]) == 0);
	family->main = fork_into(family);
	WANT(family->main > 0);
	WANT(close(family->ready[1]) == 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		WANT(read(family->ready[0], bytes + i, 1) == 1);
	return 0;
}

/* Every living process of the family holds the pipe, so its end shows that all are dead. */
static int all_dead(const struct family *family)
{
	int status = 0;
	char byte;

	WANT(waitpid(family->main, &status, 0) == family->main);
	WANT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	WANT(waitpid(family->init, &status, __WALL) == family->init);
	WANT(read(family->ready[0], &byte, 1) == 0);
	return 0;
}

static int closed(void *context)
{
	struct family family;

	(void)context;
	WANT(start_family(&family) == 0);
	WANT(close(family.lifeline[1]) == 0);
	return all_dead(&family);
}

TEST(a_closed_lifeline_kills_whoever_is_in_the_namespace)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(closed, NULL), 0);
}

static int written(void *context)
{
	struct family family;

	(void)context;
	WANT(start_family(&family) == 0);
	WANT(write(family.lifeline[1], "x", 1) == 1);
	return all_dead(&family);
}

TEST(a_byte_on_the_lifeline_does_the_same)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(written, NULL), 0);
}

static int survives(void *context)
{
	struct family family;
	int status = 0;

	(void)context;
	WANT(start_family(&family) == 0);
	WANT(waitpid(family.init, &status, __WALL | WNOHANG) == 0);
	WANT(kill(family.main, SIGKILL) == 0);
	WANT(waitpid(family.main, &status, 0) == family.main);
	WANT(waitpid(family.init, &status, __WALL | WNOHANG) == 0);
	WANT(kill(family.init, SIGKILL) == 0);
	WANT(waitpid(family.init, &status, __WALL) == family.init);
	return 0;
}

TEST(init_feels_no_signal_from_inside_and_each_one_from_outside)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(survives, NULL), 0);
}
