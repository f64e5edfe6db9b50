#include <string.h>

#include "proto/method/method.h"
#include "tests/arena.h"
#include "tests/check.h"

TEST(all_contracts_compile)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(method_setup(&err), 0);
	CHECK_EQ_INT(method_setup(NULL), 0);
	for (unsigned id = 0; id < METHOD_COUNT; id++) {
		CHECK(method_params((enum method_id)id));
		CHECK_EQ_INT(method_of((enum method_id)id)->id, id);
		CHECK(!method_result((enum method_id)id) ==
			!method_of((enum method_id)id)->result_file);
	}
}

TEST(methods_are_found_by_their_names)
{
	CHECK_EQ_INT(method_find("run")->id, METHOD_RUN);
	CHECK_EQ_INT(method_find("runs.output")->id, METHOD_RUNS_OUTPUT);
	CHECK_EQ_INT(method_find("admin.status")->who, METHOD_ADMIN);
	CHECK_EQ_INT(method_find("admin.metrics")->who, METHOD_ADMIN);
	CHECK_EQ_INT(method_find("health")->who, METHOD_ALL);
	CHECK(!method_find("Run"));
	CHECK(!method_find(""));
	CHECK(!method_find("runs"));
}

TEST(each_role_may_what_the_table_says)
{
	const struct method *run = method_find("run");
	const struct method *list = method_find("runs.list");
	const struct method *status = method_find("admin.status");

	CHECK_EQ_INT(method_right(run, ROLE_BIT(ROLE_USER)), RIGHT_YES);
	CHECK_EQ_INT(method_right(run, ROLE_BIT(ROLE_APPROVER)), RIGHT_NO);
	CHECK_EQ_INT(method_right(list, ROLE_BIT(ROLE_USER)), RIGHT_OWN);
	CHECK_EQ_INT(method_right(list, ROLE_BIT(ROLE_ADMIN)), RIGHT_YES);
	CHECK_EQ_INT(method_right(status, ROLE_BIT(ROLE_USER) | ROLE_BIT(ROLE_APPROVER)), RIGHT_NO);
}

TEST(of_several_roles_the_one_that_gives_most_decides_and_no_role_gives_nothing)
{
	for (unsigned id = 0; id < METHOD_COUNT; id++) {
		const struct method *method = method_of((enum method_id)id);

		CHECK_EQ_INT(method_right(method, 0), RIGHT_NO);
		for (unsigned a = 0; a <= ROLES_ALL; a++)
			for (unsigned b = 0; b <= ROLES_ALL; b++) {
				enum right one = method_right(method, a);
				enum right other = method_right(method, b);

				CHECK_EQ_INT(
					method_right(method, a | b), one > other ? one : other);
			}
	}
}

TEST(a_refusal_has_a_pointer_a_reason_and_words)
{
	WITH_ARENA(arena);
	struct job_refusal refusal = { NULL, NULL, NULL };
	struct value *params = value_map(arena);
	struct err err = ERR_INIT;

	CHECK_EQ_INT(value_map_put(arena, params, "run", value_text(arena, "x")), 0);
	CHECK_EQ_INT(method_check_params(arena, METHOD_WAIT, params, &refusal, &err), 1);
	CHECK_STR(refusal.pointer, "/run");
	CHECK_STR(refusal.reason, "unknown_key");
	CHECK_STR(refusal.message,
		"/run: this key is not known here; did you mean run_id? Known are: id, msgid, run_id, timeout_ms");
}

TEST(a_refusal_of_the_whole_says_so)
{
	WITH_ARENA(arena);
	struct job_refusal refusal = { NULL, NULL, NULL };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(
		method_check_params(arena, METHOD_STATS, value_list(arena), &refusal, &err), 1);
	CHECK_STR(refusal.pointer, "");
	CHECK_STR(refusal.message, "the params: must be object, not array");
}
