#include <string.h>

#include "proto/base/cleanup.h"
#include "sandbox/jail/ns.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

static struct err err = ERR_INIT;

TEST(a_range_of_uids_that_exists_is_found)
{
	CHECK(ns_check_range(getuid(), 1, &err) == 0);
}

static int small_map(void *context)
{
	(void)context;
	WANT(enter_namespaces());
	WANT(ns_check_range(0, 1, &err) == 0);
	WANT(ns_check_range(0, 2, &err) < 0);
	WANT(ns_check_range(400000, 65, &err) < 0);
	WANT(strstr(err.text, "--uid-base"));
	return 0;
}

TEST(a_range_that_is_not_mapped_is_refused_with_the_way_out)
{
	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK_EQ_INT(in_child(small_map, NULL), 0);
}

/* Waits for a byte, then checks its own ids. */
static void jailed(const int go[2])
{
	char byte;

	(void)!read(go[0], &byte, 1);
	_exit(getpid() != 1 || getuid() != 0 || getgid() != 0 || sethostname("inside", 6) < 0);
}

TEST(a_clone_is_pid_1_and_uid_0_once_its_maps_are_written)
{
	const struct id_maps maps = { { 0, getuid(), 1 }, { 0, getgid(), 1 } };
	auto_fd int pidfd = -1;
	int status = -1;
	int go[2];
	pid_t pid;

	if (!can_jail())
		SKIP("this host gives no user namespaces");
	CHECK(pipe(go) == 0);
	pid = ns_clone(NS_JAIL, &pidfd, &err);
	if (pid == 0)
		jailed(go);
	CHECK(pid > 0 && pidfd >= 0);
	CHECK(ns_write_maps(pid, &maps, &err) == 0);
	CHECK(ns_write_maps(pid, &maps, &err) < 0); /* the kernel accepts maps only once */
	CHECK(write(go[1], "g", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ_INT(status, 0);
	close(go[0]);
	close(go[1]);
}
