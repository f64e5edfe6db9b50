#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/server_parts.h"
#include "tests/check.h"
#include "tests/unit/house.h"

static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\"}";

/* One run, from the request to its result. */
static bool run(struct house *house, int client, const char *params, const char *output,
	struct reply *ret_reply)
{
	return house_send(client, 1, "run", params) && house_program(house, output, 0) &&
	       house_hear(house, client, ret_reply);
}

TEST(every_room_has_a_name)
{
	static const char *const names[] = { "contract", "repeat", "budget", "policy", "approval",
		"cache", "begin", "queue", "worker", "output", "record", "reply", "exit" };

	for (int stage = STAGE_CONTRACT; stage <= STAGE_EXIT; stage++)
		CHECK_STR(stage_word((enum stage)stage), names[stage]);
}

TEST(contract_refuses_by_pointer_and_records_the_attempt)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK(house_call(&house, client, "run", "{\"language\":\"cobol\",\"code\":\"1\"}", &reply));
	CHECK_STR(reply.code, "bad_request");
	CHECK_STR(value_as_text(value_get(reply.data, "pointer")), "/language");
	CHECK(value_get(reply.data, "run_id") != NULL);
	CHECK(house_call(&house, client, "runs.get", "{\"run_id\":\"last\"}", &reply));
	CHECK_STR(house_text(&reply, "outcome"), "refused");
	CHECK(house_call(&house, client, "check", "{\"language\":\"python\"}", &reply));
	CHECK_STR(house_text(&reply, "would"), "refuse");
	close(client);
	house_close(&house);
}

TEST(policy_denies_and_nothing_runs)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	house.denies = true;
	client = house_connect(&house);
	CHECK(house_call(&house, client, "check", RUN, &reply));
	CHECK_STR(house_text(&reply, "would"), "deny");
	CHECK(house_call(&house, client, "run", RUN, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "policy_denied");
	CHECK_STR(house_text(&reply, "ran"), "no");
	CHECK_EQ_INT(house.seen, 1); /* the verdict was cached */
	CHECK_EQ_INT(house.server->pool.runtimes[0].runs, 0);
	close(client);
	house_close(&house);
}

TEST(queue_gives_turns_in_order_and_up_when_it_is_full_or_late)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, "queue_max = 1\nqueue_ms = 100ms\n"));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run", RUN));
	CHECK(house_at_worker(&house));
	CHECK(house_send(client, 2, "run", RUN));
	CHECK(house_send(client, 3, "run", RUN));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 3);
	CHECK_STR(reply.code, "busy");
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 2);
	CHECK_STR(house_text(&reply, "outcome"), "busy");
	CHECK_STR(house_text(&reply, "ran"), "no");
	CHECK(house_program(&house, "", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 1);
	CHECK(house_send(client, 4, "run", RUN));
	CHECK(house_next(&house)); /* now it gets its turn */
	CHECK(house_program(&house, "", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 4);
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	close(client);
	house_close(&house);
}

TEST(worker_tells_output_only_when_the_run_is_on_the_record)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run",
		"{\"language\":\"python\",\"code\":\"print(1)\",\"stream\":true}"));
	CHECK(house_program(&house, "early", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "stream"), "stdout");
	CHECK(value_equal(value_get(reply.value, "data"), value_text(&house.arena, "early")));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	close(client);
	house_close(&house);
}

TEST(output_is_held_against_its_schema_and_says_when_there_is_more)
{
	static const char wants[] =
		"{\"language\":\"python\",\"code\":\"print(1)\",\"schema\":{\"type\":\"array\","
		"\"items\":{\"type\":\"string\"}}}";
	struct house house;
	struct reply reply;
	char output[512] = "[";
	const struct value *errors;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	for (int i = 0; i < 100; i++)
		(void)strcat(output, i ? ",1" : "1");
	(void)strcat(output, "]");
	CHECK(run(&house, client, wants, output, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "output_invalid");
	errors = value_get(reply.value, "output_errors");
	CHECK_EQ_INT(errors->list.count, 65);
	CHECK_STR(value_as_text(value_get(value_at(errors, 0), "pointer")), "/0");
	CHECK_STR(value_as_text(value_get(value_at(errors, 64), "pointer")), "");
	CHECK(house_next(&house));
	CHECK(run(&house, client, wants, "[\"a\"]", &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	close(client);
	house_close(&house);
}

TEST(output_that_nests_as_deep_as_it_may_is_told_and_deeper_is_invalid)
{
	static const char wants[] =
		"{\"language\":\"python\",\"code\":\"print(1)\",\"output\":\"json\"}";
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	for (int depth = 60; depth <= 61; depth++) {
		char output[128] = "";

		for (int i = 0; i < depth; i++)
			output[i] = '[';
		for (int i = 0; i < depth; i++)
			output[depth + i] = ']';
		CHECK(run(&house, client, wants, output, &reply));
		CHECK_STR(house_text(&reply, "outcome"), depth == 60 ? "ok" : "output_invalid");
		CHECK(house_next(&house));
	}
	close(client);
	house_close(&house);
}

TEST(record_and_reply_come_in_this_order_and_leave_nothing_in_the_house)
{
	struct house house;
	struct reply reply;
	const struct value *trace;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(run(&house, client, RUN, "1\n", &reply));
	trace = value_get(reply.value, "trace");
	CHECK(value_is(trace, VALUE_LIST) && trace->list.count >= 4);
	CHECK_STR(value_as_text(value_get(value_at(trace, 0), "step")), "contract.held");
	CHECK(value_as_int(value_get(value_get(reply.value, "metrics"), "exec_us"), -1) >= 0);
	house_turn(&house, 5);
	CHECK_EQ_INT(registry_count(&house.server->runs), 0);
	CHECK_EQ_INT(house.server->state.outcomes[OUTCOME_OK], 1);
	close(client);
	house_close(&house);
}

/* A run with so many bytes on stdin, which the budget refuses.  Reads the record of it. */
static bool refused_record(struct house *house, int client, size_t bytes, struct reply *ret_reply)
{
	struct buf params;
	bool sent;

	buf_init(&params, bytes + 128);
	(void)buf_append_text(
		&params, "{\"language\":\"python\",\"code\":\"print(1)\",\"stdin\":\"");
	for (size_t i = 0; i < bytes; i++)
		(void)buf_append_byte(&params, 'x');
	(void)buf_append(&params, "\"}", 3);
	sent = house_call(house, client, "run", params.bytes, ret_reply) &&
	       !strcmp(house_text(ret_reply, "outcome"), "budget_exceeded");
	buf_done(&params);
	return sent && house_call(house, client, "runs.get", "{\"run_id\":\"last\"}", ret_reply);
}

TEST(who_is_not_let_in_does_not_fill_the_disk)
{
	struct house house;
	struct reply reply;
	const struct value *request;
	int client;

	CHECK(house_ready(&house, "budget_uid { runs_per_minute = 1 }\n"));
	client = house_connect(&house);
	CHECK(run(&house, client, RUN, "1\n", &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");

	CHECK(refused_record(&house, client, 100, &reply));
	request = value_get(reply.value, "request");
	CHECK_STR(value_as_text(value_get(request, "code")), "print(1)");
	CHECK(value_get(request, "stdin"));

	CHECK(refused_record(&house, client, 100000, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "budget_exceeded");
	request = value_get(reply.value, "request");
	CHECK_STR(value_as_text(value_get(request, "language")), "python");
	CHECK(!value_as_text(value_get(request, "code")));
	CHECK(!value_as_text(value_get(request, "stdin")));
	CHECK(house_text(&reply, "input_hash")[0]);
	close(client);
	house_close(&house);
}
