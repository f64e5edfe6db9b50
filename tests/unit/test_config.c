#include <string.h>

#include "daemon/config.h"
#include "tests/check.h"

static struct config config;

static int parse(const char *text, struct err *err)
{
	config_init(&config);
	return config_parse(&config, text, err) < 0 ? -1 : config_finish(&config, err);
}

static void expect_refused(const char *text, const char *word)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse(text, &err), -1);
	CHECK(strstr(err.text, word));
}

TEST(an_empty_file_gives_the_defaults_of_a_careful_host)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("", &err), 0);
	CHECK_EQ_INT(config.limits.wall_ms, 5000);
	CHECK_EQ_INT(config.limits.memory_bytes, 256 << 20);
	CHECK_EQ_INT(config.limits.stdout_bytes, 1 << 20);
	CHECK_EQ_INT(config.limits.stderr_bytes, 256 << 10);
	CHECK_EQ_INT(config.limits.pids, 64);
	CHECK_EQ_INT(config.runtime_count, 1);
	CHECK_STR(config.runtimes[0].name, "python");
	CHECK_STR(config.cgroups, "required");
	CHECK(config.workers_min >= 1 && config.workers_min <= config.workers_max);
}

TEST(sizes_times_lists_and_sections_are_read)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("queue_max = 7\n"
			   "queue_ms = 2s\n"
			   "limits { memory_bytes = 128mb wall_ms = 1500ms }\n"
			   "most { wall_ms = 1min }\n"
			   "admins = {1000, 1001}\n"
			   "runtime python { preload = {\"json\", \"os.path\"} }\n"
			   "runtime other { interpreter = \"/opt/py/bin/python3\" }\n",
			     &err),
		0);
	CHECK_EQ_INT(config.queue_max, 7);
	CHECK_EQ_INT(config.queue_ms, 2000);
	CHECK_EQ_INT(config.limits.memory_bytes, 128 << 20);
	CHECK_EQ_INT(config.limits.wall_ms, 1500);
	CHECK_EQ_INT(config.most.wall_ms, 60000);
	CHECK_EQ_INT(config.admin_count, 2);
	CHECK_EQ_INT(config.admins[1], 1001);
	CHECK_STR(config.runtimes[0].preload, "json os.path");
	CHECK_STR(config.runtimes[0].interpreter, "/usr/bin/python3");
	CHECK_EQ_INT(config.runtime_count, 2);
	CHECK_STR(config.runtimes[1].interpreter, "/opt/py/bin/python3");
}

TEST(a_setting_outside_its_range_is_refused_by_name)
{
	expect_refused("queue_max = 0\n", "queue_max: 0 is outside 1 to 100000");
	expect_refused("limits { pids = 99999999 }\n", "pids");
}

TEST(an_unknown_setting_is_refused_by_name)
{
	expect_refused("quue_max = 4\n", "quue_max");
	expect_refused("limits { wall = 4s }\n", "wall");
}

TEST(units_must_suit_the_setting)
{
	expect_refused("queue_ms = 4mb\n", "queue_ms");
	expect_refused("message_bytes = 4s\n", "message_bytes");
	expect_refused("queue_max = -1\n", "queue_max");
	expect_refused("message_bytes = 99999999999gb\n", "message_bytes");
}

TEST(what_belongs_together_is_checked_together)
{
	expect_refused("limits { wall_ms = 2min }\n", "limits.wall_ms is above most.wall_ms");
	expect_refused("cgroups = \"maybe\"\n", "maybe");
	expect_refused("workers_min = 9\nworkers_max = 3\n", "workers_min");
}

TEST(a_runtime_without_an_interpreter_or_with_odd_modules_is_refused)
{
	expect_refused("runtime ruby { }\n", "interpreter");
	expect_refused("runtime python { preload = {\"os; import x\"} }\n", "preload");
}
