#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/workers/package_sets.h"
#include "proto/base/container.h"
#include "proto/package_digest.h"
#include "tests/arena.h"
#include "tests/check.h"

static char root[64];
static struct config config;
static uv_loop_t loop;
static struct package_sets sets;

static void write_module(const char *text)
{
	char path[128];
	FILE *file;

	cut_printf(path, sizeof(path), "%s/m.py", root);
	file = fopen(path, "we");
	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
	CHECK(chmod(path, 0644) == 0);
}

/* A configuration with one set that is as it should be, and one that is not there. */
static void begin(void)
{
	struct package_scan scan = PACKAGE_SCAN_USUAL;
	struct config_package *good = &config.packages[0], *gone = &config.packages[1];
	struct err err = ERR_INIT;

	cut_printf(root, sizeof(root), "/tmp/ced-sets.XXXXXX");
	CHECK(mkdtemp(root) && chmod(root, 0755) == 0);
	write_module("x = 1\n");
	memset(&config, 0, sizeof(config));
	config.package_count = 2;
	*good = (struct config_package){ .name = "good", .runtime = "python" };
	*gone = (struct config_package){ .name = "gone", .runtime = "bash", .path = "/nowhere" };
	cut_printf(good->path, sizeof(good->path), "%s", root);
	CHECK_EQ_INT(package_digest(root, &scan, good->digest, &err), 0);
	CHECK_EQ_INT(uv_loop_init(&loop), 0);
}

static void run(void)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(package_sets_start(&sets, &loop, &config, &err), 0);
	CHECK_EQ_INT(package_sets_find(&sets, "good")->state, PACKAGE_CHECKING);
	CHECK_EQ_INT(package_sets_find(&sets, "gone")->state, PACKAGE_CHECKING);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
}

static void end(void)
{
	char path[128];

	package_sets_close(&sets);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	CHECK_EQ_INT(uv_loop_close(&loop), 0);
	cut_printf(path, sizeof(path), "%s/m.py", root);
	CHECK(unlink(path) == 0 && rmdir(root) == 0);
}

TEST(a_set_is_checked_then_ready_or_off_with_the_reason)
{
	WITH_ARENA(arena);
	const struct value *list;

	begin();
	if (!check_ok())
		return;
	run();
	if (!check_ok())
		return;
	CHECK_EQ_INT(package_sets_find(&sets, "good")->state, PACKAGE_READY);
	CHECK_EQ_INT(package_sets_find(&sets, "gone")->state, PACKAGE_OFF);
	CHECK_STR(package_sets_find(&sets, "gone")->why, "the folder: No such file or directory");
	CHECK(package_sets_find(&sets, "other") == NULL);
	list = package_sets_describe(&sets, "python", arena);
	CHECK(value_at(list, 0) && !value_at(list, 1));
	CHECK_STR(value_as_text(value_get(value_at(list, 0), "state")), "ready");
	CHECK(!value_get(value_at(list, 0), "path"));
	list = package_sets_describe(&sets, NULL, arena);
	CHECK_STR(value_as_text(value_get(value_at(list, 1), "path")), "/nowhere");
	end();
}

TEST(a_set_that_has_changed_is_off)
{
	begin();
	write_module("x = 2\n");
	if (!check_ok())
		return;
	run();
	if (!check_ok())
		return;
	CHECK_EQ_INT(package_sets_find(&sets, "good")->state, PACKAGE_OFF);
	CHECK(strstr(package_sets_find(&sets, "good")->why, "its files have changed") != NULL);
	end();
}

TEST(closing_while_a_thread_reads_stops_it)
{
	struct err err = ERR_INIT;

	begin();
	if (!check_ok())
		return;
	CHECK_EQ_INT(package_sets_start(&sets, &loop, &config, &err), 0);
	end();
}

TEST(without_sets_nothing_is_started)
{
	struct err err = ERR_INIT;

	begin();
	if (!check_ok())
		return;
	config.package_count = 0;
	CHECK_EQ_INT(package_sets_start(&sets, &loop, &config, &err), 0);
	CHECK(!uv_loop_alive(&loop));
	end();
}

TEST(a_set_may_be_for_some_users_and_groups)
{
	struct config_package some = { .is_for_some = true,
		.users = { .ids = { 1000 }, .count = 1 },
		.groups = { .ids = { 50 }, .count = 1 } };
	struct config_package all = { .is_for_some = false };
	const struct package_set for_some = { .config = &some }, for_all = { .config = &all };

	CHECK(package_set_is_for(&for_all, 7, 7));
	CHECK(package_set_is_for(&for_some, 1000, 7));
	CHECK(package_set_is_for(&for_some, 7, 50));
	CHECK(!package_set_is_for(&for_some, 50, 1000));
}
