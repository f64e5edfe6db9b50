#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/cleanup.h"
#include "sandbox/jail/child.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;
static struct filter filter;
static struct jail_spec spec;
static int pair[2];
static const char *argv[] = { "program", NULL, NULL };
static const char *envp[] = { NULL };

/* A jail like the inspector's, around one of the host's programs. */
static bool describe(const char *program)
{
	const struct mount_row row = { MOUNT_TARGET, program, "/program", false };

	if (!filter.code && filter_build(FILTER_ZYGOTE, &filter, &err) < 0)
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	jail_spec_init(&spec, &PROFILE_INSPECTOR);
	spec.filter = &filter;
	spec.socket = pair[1];
	spec.program = "/program";
	spec.argv = argv;
	spec.envp = envp;
	return jail_spec_add(&spec, &row, &err) == 0;
}

static void forget(struct child *child)
{
	child_end(child);
	close(pair[0]);
	close(pair[1]);
	filter_done(&filter);
	argv[1] = NULL;
}

static bool bring_up(struct child *child)
{
	const struct id_maps maps = { { 0, getuid(), 1 }, { 0, getgid(), 1 } };

	*child = (struct child)CHILD_INIT;
	return child_begin(child, &spec, &err) == 0 &&
	       ns_write_maps(child->pid, &maps, &err) == 0 && child_go(child, &err) == 0;
}

static int wait_for_status(struct child *child)
{
	int status = -1;

	for (int i = 0; i < 500 && !child_reap(child, &status); i++)
		(void)usleep(10000);
	return status;
}

TEST(a_child_runs_its_program_and_its_status_is_taken)
{
	struct child child;

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK(describe("/bin/false"));
	CHECK(bring_up(&child));
	CHECK(child.pid > 0 && child.pidfd >= 0 && child.start < 0);
	CHECK_EQ_INT(WEXITSTATUS(wait_for_status(&child)), 1);
	CHECK(child.pid == 0 && child.pidfd < 0);
	forget(&child);
}

TEST(a_child_that_sleeps_is_ended)
{
	struct child child;
	int status;

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK(describe("/bin/sleep"));
	argv[1] = "600";
	CHECK(bring_up(&child));
	CHECK(!child_reap(&child, &status));
	CHECK(child_signal(&child, SIGKILL, &err) == 0);
	status = wait_for_status(&child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(child_signal(&child, SIGKILL, &err) == 0); /* it died long ago: no failure */
	forget(&child);
}

TEST(the_step_that_fails_is_named)
{
	const struct mount_row missing = { MOUNT_TREE, "/no/such/thing", "/thing", false };
	struct child child;

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK(describe("/bin/true"));
	CHECK(jail_spec_add(&spec, &missing, &err) == 0);
	CHECK(!bring_up(&child));
	CHECK_STR(err.text, "sources: /no/such/thing: open: No such file or directory");
	forget(&child);

	CHECK(describe("/bin/true"));
	spec.program = "/elsewhere";
	CHECK(!bring_up(&child));
	CHECK_STR(err.text, "program: /elsewhere: No such file or directory");
	forget(&child);
}

TEST(a_child_that_never_gets_the_word_ends)
{
	struct child child = CHILD_INIT;

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK(describe("/bin/true"));
	CHECK(child_begin(&child, &spec, &err) == 0);
	close(child.start);
	child.start = -1;
	CHECK_EQ_INT(WEXITSTATUS(wait_for_status(&child)), 127);
	forget(&child);
}

TEST(ending_a_child_that_never_was_does_nothing)
{
	struct child child = CHILD_INIT;
	int status;

	child_end(&child);
	CHECK(!child_reap(&child, &status));
	CHECK(child_signal(&child, SIGTERM, &err) == 0);
}

TEST(a_plan_takes_no_more_mounts_than_it_has_room_for)
{
	const struct mount_row row = { MOUNT_TREE, "/usr", "/usr", false };
	unsigned added = 0;

	jail_spec_init(&spec, &PROFILE_ZYGOTE);
	while (added < 1000 && jail_spec_add(&spec, &row, &err) == 0)
		added++;
	CHECK(added < 1000);
	CHECK_EQ_INT(spec.mounts.count, MOUNTS_MAX);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
}
