#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/door/caller.h"
#include "tests/check.h"

#define CROWD 300 /* more groups than one call asks for */

TEST(a_caller_is_who_the_kernel_says)
{
	static const struct roles roles;
	struct caller caller = { 0 };
	int ends[2];

	CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	CHECK_EQ_INT(caller_identify(ends[0], &roles, &caller), 0);
	CHECK_EQ_INT(caller.uid, getuid());
	CHECK_EQ_INT(caller.gid, getgid());
	CHECK_EQ_INT(caller.pid, getpid());
	CHECK(!caller.exe[0] && !caller.name[0]); /* caller_look_at_process() sets them */
	caller_look_at_process(&caller);
	CHECK(strstr(caller.exe, "test_caller") != NULL);
	CHECK_STR(caller.name, "test_caller");
	CHECK(caller_is(&caller, ROLE_ADMIN));
	close(ends[0]);
	close(ends[1]);
}

TEST(who_cannot_be_identified_is_not_let_in)
{
	static const struct roles roles;
	struct caller caller = { 0 };
	int ends[2];

	CHECK_EQ_INT(pipe(ends), 0);
	CHECK_EQ_INT(caller_identify(ends[0], &roles, &caller), -1);
	CHECK_EQ_INT(caller.roles, 0);
	close(ends[0]);
	close(ends[1]);
}

/* In a child: becomes another user with this many groups and exits with its roles. */
static void be_crowded(const struct roles *roles)
{
	gid_t gids[CROWD];
	struct caller caller = { 0 };
	int ends[2];

	for (unsigned i = 0; i < CROWD; i++)
		gids[i] = 5000 + i;
	if (setgroups(CROWD, gids) < 0 || setgid(4001) < 0 || setuid(4001) < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
		caller_identify(ends[0], roles, &caller) < 0)
		_exit(99);
	_exit((int)caller.roles);
}

TEST(the_last_of_many_groups_counts)
{
	struct roles roles = { 0 };
	int status = 0;
	pid_t child;

	if (getuid() != 0)
		SKIP("only root can be somebody else");
	/* In the child the peer has the daemon's own uid, which makes it an administrator. */
	roles.groups[ROLE_APPROVER].ids[0] = 5000 + CROWD - 1;
	roles.groups[ROLE_APPROVER].count = 1;
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
		be_crowded(&roles);
	CHECK_EQ_INT(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_EQ_INT(WEXITSTATUS(status), ROLES_ALL);
}
