#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "sandbox/spawner/cgroup.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

#define LEAF "z1"

static struct cgroups cgroups;
static struct err err = ERR_INIT;

/* Each test has its own cgroups.  Without any, it says why and is skipped. */
#define NEED_CGROUPS()                         \
	do {                                   \
		cgroups_open(&cgroups);        \
		if (cgroups.count == 0)        \
			SKIP(cgroups.why_not); \
	} while (0)

static bool is_there(const struct cgroup_hierarchy *row, const char *name)
{
	return faccessat(row->base, name, F_OK, 0) == 0;
}

TEST(what_cannot_be_had_has_a_reason)
{
	cgroups_open(&cgroups);
	CHECK(cgroups.count > 0 || cgroups.why_not[0]);
	if (cgroups_kind(&cgroups, CGROUP_MEMORY) == PRIV_CGROUP_NONE)
		CHECK(cgroups.why_not[0]);
	cgroups_close(&cgroups);
}

TEST(the_folder_of_jails_is_in_every_hierarchy_and_removed_without_a_trace)
{
	char name[CGROUP_NAME_MAX];
	struct cgroups copy;

	NEED_CGROUPS();
	(void)snprintf(name, sizeof(name), "ced-%d", (int)getpid());
	CHECK_STR(cgroups.jails_name, name);
	copy = cgroups;
	for (unsigned i = 0; i < copy.count; i++) {
		copy.rows[i].base = dup(cgroups.rows[i].base);
		CHECK(is_there(&copy.rows[i], name));
	}
	CHECK(cgroup_make(&cgroups, LEAF, &err) == 0);
	cgroups_close(&cgroups);
	for (unsigned i = 0; i < copy.count; i++) {
		CHECK(!is_there(&copy.rows[i], name));
		close(copy.rows[i].base);
	}
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	return pid;
}

static bool is_in(pid_t pid, const char *leaf)
{
	auto_free char *text = NULL;
	char path[64];
	char place[128];
	size_t len;
	unsigned found = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	(void)snprintf(place, sizeof(place), "/%s/%s\n", cgroups.jails_name, leaf);
	if (read_file(path, 1 << 16, &text, &len, &err) < 0)
		return false;
	for (const char *at = text; (at = strstr(at, place)); at++)
		found++;
	return found == cgroups.count;
}

TEST(a_process_moves_into_a_leaf_which_stays_until_it_is_dead)
{
	pid_t pid;

	NEED_CGROUPS();
	CHECK(cgroup_make(&cgroups, LEAF, &err) == 0);
	CHECK(cgroup_make(&cgroups, LEAF, &err) == 0);
	pid = start_sleeper();
	CHECK(pid > 0 && cgroup_join(&cgroups, LEAF, pid, &err) == 0);
	CHECK(is_in(pid, LEAF));
	CHECK(!cgroup_remove(&cgroups, LEAF));
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	for (int i = 0; i < 100 && !cgroup_remove(&cgroups, LEAF); i++)
		(void)usleep(10000);
	CHECK(cgroup_remove(&cgroups, LEAF));
	cgroups_close(&cgroups);
}

static int knob(const struct priv_knobs *knobs, const int *fds, enum priv_knob which)
{
	for (unsigned i = 0; i < knobs->count; i++)
		if (knobs->which[i] == which)
			return fds[i];
	return -1;
}

/* A child joins the cgroups through the knobs, as a worker does, and is still limited by them. */
static int join_and_fork(void *context)
{
	const int *joins = context;
	pid_t pid;

	for (; *joins >= 0; joins++)
		WANT(write(*joins, "0", 1) == 1);
	pid = fork();
	if (pid == 0)
		_exit(0);
	WANT(pid < 0 && errno == EAGAIN);
	return 0;
}

TEST(knobs_join_limit_and_tell)
{
	struct priv_knobs knobs;
	int fds[PRIV_FDS_MAX];
	int joins[PRIV_FDS_MAX + 1];
	unsigned count = 0;
	char text[256] = "";

	NEED_CGROUPS();
	if (cgroups_kind(&cgroups, CGROUP_PIDS) == PRIV_CGROUP_NONE) {
		cgroups_close(&cgroups);
		SKIP("no pids controller");
	}
	CHECK(cgroup_make(&cgroups, LEAF, &err) == 0);
	CHECK(cgroup_knobs(&cgroups, LEAF, CGROUP_AS_WE_ARE, &knobs, fds, &err) == 0);
	for (unsigned i = 0; i < knobs.count; i++)
		if (knobs.which[i] == KNOB_JOIN)
			joins[count++] = fds[i];
	joins[count] = -1;
	CHECK_EQ_INT(count, cgroups.count);
	CHECK(write(knob(&knobs, fds, KNOB_PIDS_MAX), "1", 1) == 1);
	CHECK_EQ_INT(in_child(join_and_fork, joins), 0);
	CHECK(pread(knob(&knobs, fds, KNOB_PIDS_EVENTS), text, sizeof(text) - 1, 0) > 0);
	CHECK(strstr(text, "max 1"));
	close_fds(fds, knobs.count);
	cgroups_close(&cgroups);
}

TEST(limits_are_written_where_a_controller_is)
{
	struct priv_knobs knobs;
	int fds[PRIV_FDS_MAX];
	char text[64] = "";

	NEED_CGROUPS();
	CHECK(cgroup_make(&cgroups, LEAF, &err) == 0);
	CHECK(cgroup_limit(&cgroups, LEAF, 64 << 20, 77, &err) == 0);
	CHECK(cgroup_knobs(&cgroups, LEAF, CGROUP_AS_WE_ARE, &knobs, fds, &err) == 0);
	if (knob(&knobs, fds, KNOB_MEMORY_MAX) >= 0) {
		CHECK(pread(knob(&knobs, fds, KNOB_MEMORY_MAX), text, sizeof(text) - 1, 0) > 0);
		CHECK_EQ_INT(strtol(text, NULL, 10), 64 << 20);
	}
	CHECK(cgroup_limit(&cgroups, "no-such-leaf", 1, 1, &err) < 0);
	CHECK(cgroup_join(&cgroups, "no-such-leaf", getpid(), &err) < 0);
	CHECK(cgroup_knobs(&cgroups, "no-such-leaf", CGROUP_AS_WE_ARE, &knobs, fds, &err) < 0);
	cgroups_close(&cgroups);
}

/* ---- folders of other spawners ------------------------------------------------------------- */

/* `context`: gets the name of the folder that stays behind. */
static int die_with_cgroups(void *context)
{
	cgroups_open(&cgroups);
	WANT(cgroups.count > 0 && cgroup_make(&cgroups, LEAF, &err) == 0);
	WANT(cgroup_make(&cgroups, "z1-s1", &err) == 0);
	(void)snprintf(context, CGROUP_NAME_MAX, "%s", cgroups.jails_name);
	return raise(SIGKILL);
}

static int come_and_go(void *context)
{
	struct cgroups other;

	(void)context;
	cgroups_open(&other);
	WANT(other.count > 0);
	cgroups_close(&other);
	return 0;
}

TEST(the_folder_of_a_dead_spawner_is_removed_and_that_of_a_living_one_is_not)
{
	char private[CGROUP_NAME_MAX]; /* contains our pid: a killed spawner leaves it behind */
	char *dead = mmap(
		NULL, CGROUP_NAME_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int living;

	NEED_CGROUPS();
	CHECK(dead != MAP_FAILED);
	(void)snprintf(private, sizeof(private), "ced-test-%d", (int)getpid());
	if (cgroups_kind(&cgroups, CGROUP_PIDS) == PRIV_CGROUP_V2) {
		cgroups_close(&cgroups);
		SKIP("with cgroup v2 a spawner is alone in its cgroup");
	}
	/* The folder of another living spawner: locked, and named like one of ours. */
	CHECK(mkdirat(cgroups.rows[0].base, "ced-999999999", 0755) == 0);
	living = openat(cgroups.rows[0].base, "ced-999999999", O_RDONLY | O_DIRECTORY);
	CHECK(living >= 0 && flock(living, LOCK_EX) == 0);
	/* A folder that is not ours. */
	CHECK(mkdirat(cgroups.rows[0].base, private, 0755) == 0);
	CHECK_EQ_INT(in_child(die_with_cgroups, dead), -SIGKILL);
	CHECK(dead[0]);

	/* A new spawner removes the folders of dead ones. */
	CHECK_EQ_INT(in_child(come_and_go, NULL), 0);
	CHECK(!is_there(&cgroups.rows[0], dead));
	CHECK(is_there(&cgroups.rows[0], "ced-999999999"));
	CHECK(is_there(&cgroups.rows[0], private));
	close(living);
	CHECK(unlinkat(cgroups.rows[0].base, "ced-999999999", AT_REMOVEDIR) == 0);
	CHECK(unlinkat(cgroups.rows[0].base, private, AT_REMOVEDIR) == 0);
	(void)munmap(dead, CGROUP_NAME_MAX);
	cgroups_close(&cgroups);
}
