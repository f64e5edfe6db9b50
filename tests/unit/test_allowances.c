#include <string.h>

#include "daemon/policy/allowances.h"
#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "tests/check.h"

static struct config config;
static struct job_bounds general, room;

static bool configured(const char *text)
{
	struct err err = ERR_INIT;

	config_init(&config);
	if (config_parse(&config, text, &err) < 0 || config_finish(&config, &err) < 0)
		return false;
	general = (struct job_bounds){
		.standard = config.limits, .most = config.most, .code_bytes = 77
	};
	return true;
}

static const struct job_bounds *bounds(
	const char *runtime, const char *policy, uint32_t uid, uint32_t gid)
{
	const struct allowance_case what = { runtime, policy, true, uid, gid };

	return allowances_bounds(&config, &general, &what, &room);
}

TEST(where_nothing_is_set_the_general_numbers_are_not_even_copied)
{
	CHECK(configured(""));
	CHECK(bounds("python", "strict", 0, 0) == &general);
}

TEST(a_runtime_a_group_and_a_user_replace_in_this_order_number_by_number)
{
	const struct job_bounds *found;

	CHECK(configured(
		"runtime python { limits { wall_ms = 1s pids = 10 } most { wall_ms = 2min } }\n"
		"for_gid 100 { limits { wall_ms = 2s } most { memory_bytes = 2gb } }\n"
		"for_uid 1000 { limits { wall_ms = 3s } most { cpu_ms = 3min } }\n"));
	found = bounds("python", NULL, 1000, 100);
	CHECK_EQ_INT(found->standard.wall_ms, 3000);
	CHECK_EQ_INT(found->standard.pids, 10);
	CHECK_EQ_INT(found->standard.cpu_ms, config.limits.cpu_ms);
	CHECK_EQ_INT(found->most.wall_ms, 120000);
	CHECK_EQ_INT(found->most.cpu_ms, 180000);
	CHECK_EQ_INT(found->most.memory_bytes, INT64_C(2) << 30);
	CHECK_EQ_INT(found->code_bytes, 77);
	CHECK_EQ_INT(bounds("python", NULL, 1001, 100)->standard.wall_ms, 2000);
	CHECK_EQ_INT(bounds("python", NULL, 1001, 101)->standard.wall_ms, 1000);
	CHECK_EQ_INT(bounds("bash", NULL, 1001, 101)->standard.wall_ms, 5000);
	CHECK_EQ_INT(bounds(NULL, NULL, 1001, 101)->most.wall_ms, 60000);
}

TEST(a_policy_lowers_what_may_be_asked_for_and_never_raises_it)
{
	const struct job_bounds *found;

	CHECK(configured(
		"for_uid 1000 { most { wall_ms = 10min } }\n"
		"for_policy strict { limits { pids = 5 } most { wall_ms = 2s cpu_ms = 1h } }\n"));
	found = bounds("python", "strict", 1000, 0);
	CHECK_EQ_INT(found->most.wall_ms, 2000);
	CHECK_EQ_INT(found->most.cpu_ms, 60000);
	CHECK_EQ_INT(found->standard.pids, 5);
	CHECK_EQ_INT(found->standard.wall_ms, 2000); /* not above the maximum */
	CHECK_EQ_INT(bounds("python", "observe", 1000, 0)->most.wall_ms, 600000);
}

TEST(a_run_that_names_no_policy_is_under_the_configured_one)
{
	CHECK(configured("policy = \"strict\"\nfor_policy strict { most { pids = 4 } }\n"));
	CHECK_EQ_INT(bounds("python", NULL, 0, 0)->most.pids, 4);
	CHECK_EQ_INT(bounds("python", "standard", 0, 0)->most.pids, 256);
}

TEST(without_a_caller_no_callers_numbers_count)
{
	const struct allowance_case what = { "python", NULL, false, 0, 0 };

	CHECK(configured("for_uid 0 { limits { pids = 9 } }\nfor_gid 0 { limits { pids = 8 } }\n"));
	CHECK_EQ_INT(allowances_bounds(&config, &general, &what, &room)->standard.pids, 64);
}

TEST(what_is_told_is_what_was_set)
{
	struct arena arena;
	struct value *list;
	const struct value *first;

	arena_init(&arena, 1 << 16);
	CHECK(configured("for_uid 1000 { limits { pids = 9 } most { pids = 9 } }\n"));
	list = allowances_describe(&config, &arena);
	first = value_at(list, 0);
	CHECK(first && !value_at(list, 1));
	CHECK_STR(value_as_text(value_get(first, "for")), "uid");
	CHECK_STR(value_as_text(value_get(first, "name")), "1000");
	CHECK_EQ_INT(value_get(first, "limits")->map.count, 1);
	CHECK_EQ_INT(value_as_int(value_get(value_get(first, "most"), "pids"), 0), 9);
	arena_done(&arena);
}
