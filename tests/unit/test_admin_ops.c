#include <stdio.h>
#include <unistd.h>

#include "daemon/methods/admin_ops.h"
#include "tests/check.h"
#include "tests/unit/house.h"

static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\"}";
static const char DETACHED[] = "{\"language\":\"python\",\"code\":\"print(1)\",\"detach\":true}";

static void is_refused(struct house *house, int client, const char *code, const char *message)
{
	struct reply reply;

	CHECK(house_call(house, client, "run", RUN, &reply));
	CHECK_STR(reply.code, code);
	CHECK_STR(reply.message, message);
}

static bool pull(struct house *house, int client, const char *method, const char *params)
{
	struct reply reply;

	return house_call(house, client, method, params, &reply) && !reply.code;
}

TEST(a_drained_daemon_takes_no_new_runs_until_it_is_resumed)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(pull(&house, client, "admin.drain", "{\"reason\":\"noon\"}"));
	is_refused(&house, client, "draining", "an administrator has stopped new runs: noon");
	CHECK(house_call(&house, client, "admin.status", "{}", &reply));
	CHECK(value_as_bool(value_get(reply.value, "drained"), false));
	CHECK(pull(&house, client, "admin.resume", "{}"));
	CHECK(house_send(client, 1, "run", RUN));
	CHECK(house_program(&house, "1\n", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	close(client);
	house_close(&house);
}

TEST(all_that_runs_is_killed_and_nothing_new_starts)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_call(&house, client, "run", DETACHED, &reply));
	CHECK(house_call(&house, client, "admin.kill_all", "{}", &reply));
	CHECK_EQ_INT(value_as_int(value_get(reply.value, "killed"), -1), 1);
	CHECK(playing_is_closed(&house.play, house.worker.lifeline));
	is_refused(&house, client, "draining", "an administrator has stopped new runs");
	close(client);
	house_close(&house);
}

TEST(a_blocked_user_gets_no_runs_and_the_reason)
{
	struct house house;
	struct reply reply;
	char params[64];
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	(void)snprintf(
		params, sizeof(params), "{\"uid\":%d,\"reason\":\"ticket 7\"}", (int)getuid());
	CHECK(pull(&house, client, "admin.block", params));
	is_refused(&house, client, "forbidden", "an administrator has blocked this user: ticket 7");
	CHECK(house_call(&house, client, "admin.status", "{}", &reply));
	CHECK_EQ_INT(value_get(reply.value, "blocked")->list.count, 1);
	(void)snprintf(params, sizeof(params), "{\"uid\":%d}", (int)getuid());
	CHECK(pull(&house, client, "admin.unblock", params));
	CHECK(pull(&house, client, "admin.unblock", params)); /* a second time changes nothing */
	CHECK(house_call(&house, client, "admin.status", "{}", &reply));
	CHECK_EQ_INT(value_get(reply.value, "blocked")->list.count, 0);
	close(client);
	house_close(&house);
}

TEST(a_refusal_needs_no_memory)
{
	struct admin_ops admin_ops = { .drained = true, .why = "noon" };
	enum rpc_code code = RPC_CODE_COUNT;
	struct arena arena;

	arena_init(&arena, 1);
	map_init(&admin_ops.blocks);
	CHECK_STR(admin_ops_refusal(&admin_ops, 7, &arena, &code),
		"an administrator has stopped new runs");
	CHECK_EQ_INT(code, RPC_CODE_DRAINING);
	admin_ops_done(&admin_ops);
	arena_done(&arena);
}

TEST(each_use_is_in_the_record_with_who_and_why)
{
	struct house house;
	struct reply reply;
	const struct value *act;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(pull(&house, client, "admin.drain", "{\"reason\":\"noon\"}"));
	CHECK(pull(&house, client, "admin.block", "{\"uid\":7}"));
	CHECK(house_call(&house, client, "admin.acts", "{}", &reply));
	CHECK_EQ_INT(value_get(reply.value, "acts")->list.count, 2);
	act = value_at(value_get(reply.value, "acts"), 1);
	CHECK_STR(value_as_text(value_get(act, "method")), "admin.drain");
	CHECK_STR(value_as_text(value_get(value_get(act, "params"), "reason")), "noon");
	CHECK_EQ_INT(value_as_int(value_get(act, "uid"), -1), getuid());
	CHECK_EQ_INT(value_as_int(value_get(act, "pid"), -1), getpid());
	CHECK(house_call(&house, client, "admin.acts", "{\"limit\":1}", &reply));
	CHECK(value_as_bool(value_get(reply.value, "more"), false));
	CHECK(house_call(&house, client, "admin.acts", "{\"before\":2}", &reply));
	CHECK_EQ_INT(value_get(reply.value, "acts")->list.count, 1);
	CHECK(!value_as_bool(value_get(reply.value, "more"), true));
	close(client);
	house_close(&house);
}
