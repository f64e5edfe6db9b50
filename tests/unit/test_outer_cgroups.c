#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/workers/outer_cgroups.h"
#include "tests/check.h"

static char mount[] = "/tmp/ced-outer_cgroups.XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[256];
	int fd;

	(void)snprintf(whole, sizeof(whole), "%s%s", mount, path);
	if (!text) {
		if (mkdir(whole, 0755) < 0)
			abort();
		return;
	}
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static void clean(void)
{
	char command[300];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", mount);
	if (system(command)) /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
		abort();
	(void)strcpy(mount + strlen(mount) - 6, "XXXXXX");
}

TEST(the_lowest_level_whose_counter_grew_lately_is_the_one_that_ran_out)
{
	struct outer_cgroups outer_cgroups;
	const struct outer_cgroup *level;
	uint64_t bytes = 0;

	CHECK(mkdtemp(mount) != NULL);
	put("/a", NULL);
	put("/a/b", NULL);
	put("/a/memory.failcnt", "5\n");
	put("/a/memory.limit_in_bytes", "9223372036854771712\n");
	put("/a/b/memory.failcnt", "0\n");
	put("/a/b/memory.limit_in_bytes", "1048576\n");
	put("/a/b/memory.usage_in_bytes", "1000\n");
	outer_cgroups_open(&outer_cgroups, mount, "/", "/a/b");
	CHECK_EQ_INT(outer_cgroups.count, 2);
	CHECK(!outer_cgroups_short(&outer_cgroups, &bytes));
	put("/a/memory.failcnt", "6\n");
	level = outer_cgroups_short(&outer_cgroups, &bytes);
	CHECK(level && !strcmp(level->path, "/a") && bytes == 0);
	CHECK_EQ_INT(outer_cgroups_room(&outer_cgroups), 1048576 - 1000);
	put("/a/b/memory.failcnt", "1\n");
	outer_cgroups_look(&outer_cgroups); /* one look later it is still recent */
	level = outer_cgroups_short(&outer_cgroups, &bytes);
	CHECK(level && !strcmp(level->path, "/a/b") && bytes == 1048576);
	outer_cgroups_look(&outer_cgroups);
	CHECK(!outer_cgroups_short(&outer_cgroups, &bytes));
	outer_cgroups_close(&outer_cgroups);
	clean();
}

TEST(in_version_2_the_local_oom_counter_counts_and_a_mount_may_show_a_part)
{
	struct outer_cgroups outer_cgroups;
	const struct outer_cgroup *level;
	uint64_t bytes = 0;

	CHECK(mkdtemp(mount) != NULL);
	put("/s", NULL);
	put("/s/memory.events.local", "low 0\nhigh 0\nmax 70\noom 2\noom_kill 9\n");
	put("/s/memory.max", "max\n");
	outer_cgroups_open(&outer_cgroups, mount, "/outer", "/outer/s");
	CHECK_EQ_INT(outer_cgroups.count, 1);
	put("/s/memory.events.local", "low 0\nhigh 0\nmax 99\noom 2\noom_kill 10\n");
	CHECK(!outer_cgroups_short(&outer_cgroups, &bytes));
	put("/s/memory.events.local", "low 0\nhigh 0\nmax 99\noom 3\noom_kill 10\n");
	level = outer_cgroups_short(&outer_cgroups, &bytes);
	CHECK(level && !strcmp(level->path, "/s") && bytes == 0);
	outer_cgroups_close(&outer_cgroups);
	outer_cgroups_open(&outer_cgroups, mount, "/elsewhere", "/outer/s");
	CHECK_EQ_INT(outer_cgroups.count, 0);
	outer_cgroups_close(&outer_cgroups);
	clean();
}
