#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "cli/doctor/try.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err;

static int succeed(void *context, struct err *e)
{
	(void)e;
	*(int *)context = 7;
	return 0;
}

TEST(what_a_child_writes_to_shared_memory_comes_home)
{
	int *number = try_memory(sizeof(*number));

	CHECK(number != NULL);
	CHECK_EQ_INT(try_apart(succeed, number, &err), 0);
	CHECK_EQ_INT(*number, 7);
	try_forget(number, sizeof(*number));
}

static int fail(void *context, struct err *e)
{
	(void)context;
	return err_set(e, ERR_DENIED, "because of %s", "that");
}

TEST(what_a_child_says_of_its_failure_is_heard)
{
	err = (struct err)ERR_INIT;
	CHECK_EQ_INT(try_apart(fail, NULL, &err), -1);
	CHECK_STR(err.text, "because of that");
	CHECK_EQ_INT(err.code, ERR_DENIED);
}

static int die(void *context, struct err *e)
{
	(void)context;
	(void)e;
	(void)signal(SIGTERM, SIG_DFL);
	(void)raise(SIGTERM);
	return 0;
}

TEST(a_child_that_is_killed_is_a_failure_with_the_signals_name)
{
	err = (struct err)ERR_INIT;
	CHECK_EQ_INT(try_apart(die, NULL, &err), -1);
	CHECK(strstr(err.text, "SIGTERM"));
}

static int leave(void *context, struct err *e)
{
	(void)context;
	(void)e;
	_exit(0);
}

TEST(a_child_that_leaves_without_a_word_is_a_failure)
{
	err = (struct err)ERR_INIT;
	CHECK_EQ_INT(try_apart(leave, NULL, &err), -1);
	CHECK(strstr(err.text, "without a word"));
}

static int hang(void *context, struct err *e)
{
	(void)context;
	(void)e;
	(void)pause();
	return 0;
}

static int leave_one_behind(void *context, struct err *e)
{
	pid_t pid = fork();

	(void)e;
	if (pid == 0)
		(void)pause();
	else
		*(pid_t *)context = pid;
	return 0;
}

TEST(whom_a_child_leaves_behind_does_not_live_on)
{
	pid_t *left = try_memory(sizeof(*left));
	int status = 0;

	CHECK(left != NULL);
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0); /* it becomes ours */
	CHECK_EQ_INT(try_apart(leave_one_behind, left, &err), 0);
	CHECK(*left > 0);
	CHECK(waitpid(*left, &status, 0) == *left);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	try_forget(left, sizeof(*left));
}

TEST(a_child_that_hangs_is_given_up)
{
	err = (struct err)ERR_INIT;
	CHECK_EQ_INT(try_apart(hang, NULL, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TIMEOUT);
}

static int be_root(void *context, struct err *e)
{
	(void)context;
	if (geteuid() != 0 || getpid() != 1)
		return err_set(e, ERR_SYSTEM, "uid %u, pid %d", geteuid(), getpid());
	return 0;
}

TEST(inside_of_namespaces_it_is_uid_0_and_pid_1)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	err = (struct err)ERR_INIT;
	(void)try_inside(CLONE_NEWUSER | CLONE_NEWPID, be_root, NULL, &err);
	CHECK_STR(err.text, "");
}

TEST(namespaces_that_are_refused_are_an_error_of_the_kernels_words)
{
	if (is_emulated())
		SKIP("the emulator has no clone3");
	err = (struct err)ERR_INIT;
	/* no kernel gives a file system of its own with a mount namespace that is shared */
	CHECK_EQ_INT(try_inside(CLONE_NEWUSER | CLONE_FS, be_root, NULL, &err), -1);
	CHECK(strstr(err.text, "Invalid argument"));
}

TEST(uids_exist_where_the_map_says_so)
{
	CHECK(try_uids_exist(geteuid(), 1));
	CHECK(!try_uids_exist(0xfffffff0U, 64));
}
