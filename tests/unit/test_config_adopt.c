/* What a reload takes of settings that were read again, and what it leaves for a restart. */
#include <string.h>

#include "daemon/settings/config_adopt.h"
#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/setting.h"
#include "tests/check.h"

static struct config now;
static struct config fresh;
static struct config_changes changes;

static void read_settings(struct config *config, const char *text)
{
	struct err err = ERR_INIT;

	config_init(config);
	CHECK_EQ_INT(config_parse(config, text, &err), 0);
	CHECK_EQ_INT(config_finish(config, &err), 0);
	CHECK_STR(err.text, "");
}

static void adopt(const char *before, const char *after, bool sealed)
{
	read_settings(&now, before);
	read_settings(&fresh, after);
	config_adopt(&now, &fresh, sealed, &changes);
}

TEST(the_same_settings_change_nothing)
{
	adopt("wait_ms = 1min", "wait_ms = 1min", true);
	CHECK_EQ_INT(changes.count, 0);
}

TEST(what_may_change_is_taken_and_listed)
{
	adopt("wait_ms = 1min", "wait_ms = 2min limits { wall_ms = 7s } admins = {7}", true);
	CHECK_EQ_INT(changes.count, 3);
	CHECK_STR(changes.items[0].key, "wait_ms");
	CHECK_STR(changes.items[0].from, "1min");
	CHECK_STR(changes.items[0].to, "2min");
	CHECK(!changes.items[0].waits);
	CHECK_EQ_INT(now.wait_ms, 120000);
	CHECK_EQ_INT(now.limits.wall_ms, 7000);
	CHECK_EQ_INT(now.roles.users[ROLE_ADMIN].ids[0], 7);
}

TEST(what_needs_a_restart_keeps_its_value_and_where_it_was_written)
{
	adopt("workers_max = 8\nstate = \"/a\"", "state = \"/b\"\n\nworkers_max = 7", true);
	CHECK_EQ_INT(now.workers_max, 8);
	CHECK_STR(now.state, "/a");
	CHECK(changes.count >= 2 && changes.items[0].waits);
	CHECK(setting_written(&now, "workers_max")->from_start);
	CHECK_EQ_INT(setting_written(&now, "workers_max")->line, 1);
	for (unsigned i = 0; i < changes.count; i++)
		CHECK(strncmp(changes.items[i].key, "runtime.", 8) != 0);
}

TEST(a_runtime_waits_and_its_limits_do_not)
{
	adopt("", "runtime python { preload = {\"no_such_module\"} limits { pids = 3 } }", true);
	CHECK_EQ_INT(changes.count, 2);
	CHECK_STR(changes.items[0].key, "runtime.python");
	CHECK(changes.items[0].waits);
	CHECK_STR(changes.items[1].key, "runtime.python.limits");
	CHECK(!changes.items[1].waits);
	CHECK(!strstr(now.runtimes[0].preload, "no_such_module"));
	CHECK_EQ_INT(now.allowance_count, 1);
}

TEST(sections_that_are_gone_are_taken_back)
{
	adopt("alert a { count = 3 } for_uid 7 { limits { pids = 3 } }", "", true);
	CHECK_EQ_INT(changes.count, 2);
	CHECK_EQ_INT(now.alert_count, 0);
	CHECK_EQ_INT(now.allowance_count, 0);
	CHECK(!setting_written(&now, "alert.a.count"));
}

TEST(a_daemon_that_started_without_a_network_gets_none)
{
	adopt("", "egress { allow = {\"a.example\"} } for_uid 7 { egress_allow = {\"*\"} }", true);
	CHECK_STR(changes.items[0].key, "egress");
	CHECK(changes.items[0].waits);
	CHECK_STR(now.egress.allow, "");
	CHECK(!now.allowances[0].has_egress);
	adopt("egress { allow = {\"b.example\"} }", "egress { allow = {\"a.example\"} }", false);
	CHECK_STR(now.egress.allow, "a.example");
}
