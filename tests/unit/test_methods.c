#include <stdio.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/unit/house.h"

static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\"}";
static const char DETACHED[] = "{\"language\":\"python\",\"code\":\"print(1)\",\"detach\":true}";

static void is_refused(
	struct house *house, int client, const char *method, const char *params, const char *code)
{
	struct reply reply;

	CHECK(house_call(house, client, method, params, &reply));
	CHECK_STR(reply.code, code);
	CHECK(reply.message && reply.message[0]);
}

TEST(a_question_that_makes_no_sense_is_refused_by_a_word)
{
	struct house house;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	is_refused(&house, client, "no.such", "{}", "unknown_method");
	is_refused(&house, client, "hello", "{\"odd\":1}", "bad_request");
	is_refused(&house, client, "wait", "{}", "bad_request");
	is_refused(&house, client, "wait", "{\"run_id\":\"../x\"}", "bad_request");
	is_refused(&house, client, "cancel", "{\"run_id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"}",
		"not_found");
	is_refused(&house, client, "runs.get", "{\"run_id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"}",
		"not_found");
	close(client);
	house_close(&house);
}

TEST(runtimes_say_what_is_warm)
{
	struct house house;
	struct reply reply;
	const struct value *python;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_call(&house, client, "runtimes", "{}", &reply));
	python = value_at(value_get(reply.value, "runtimes"), 0);
	CHECK_STR(value_as_text(value_get(python, "name")), "python");
	CHECK_STR(value_as_text(value_get(python, "version")), "3.11.2");
	CHECK_EQ_INT(value_as_int(value_get(python, "warm"), 0), 1);
	close(client);
	house_close(&house);
}

TEST(a_run_that_is_cancelled_is_killed_and_told_to_everybody_who_waits)
{
	struct house house;
	struct reply reply;
	char params[64];
	int client, other;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	other = house_connect(&house);
	CHECK(house_call(&house, client, "run", DETACHED, &reply));
	(void)snprintf(params, sizeof(params), "{\"run_id\":\"%s\"}", house_text(&reply, "run_id"));
	CHECK(house_send(client, 1, "wait", params));
	CHECK(house_send(other, 2, "wait", params));
	CHECK(house_send(other, 3, "wait", params));
	house_turn(&house, 20);
	CHECK(house_call(&house, client, "cancel", params, &reply));
	CHECK(!reply.code);
	CHECK(playing_is_closed(&house.play, house.worker.lifeline));
	CHECK(played_ended(&house.worker, 9));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	for (uint32_t msgid = 2; msgid <= 3; msgid++) {
		CHECK(house_hear(&house, other, &reply));
		CHECK_EQ_INT(reply.msgid, msgid);
		CHECK_STR(house_text(&reply, "outcome"), "canceled");
	}
	close(client);
	close(other);
	house_close(&house);
}

TEST(a_wait_ends_when_its_time_is_up_and_the_run_goes_on)
{
	struct house house;
	struct reply reply;
	char params[96];
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_call(&house, client, "run", DETACHED, &reply));
	(void)snprintf(params, sizeof(params), "{\"run_id\":\"%s\",\"timeout_ms\":10}",
		house_text(&reply, "run_id"));
	CHECK(house_call(&house, client, "wait", params, &reply));
	CHECK_STR(house_text(&reply, "state"), "running");
	CHECK_EQ_INT(house.server->runs.count, 1);
	close(client);
	house_close(&house);
}

TEST(who_leaves_while_he_waits_is_forgotten)
{
	struct house house;
	struct reply reply;
	char params[64];
	int client, other;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	other = house_connect(&house);
	CHECK(house_call(&house, client, "run", DETACHED, &reply));
	(void)snprintf(params, sizeof(params), "{\"run_id\":\"%s\"}", house_text(&reply, "run_id"));
	for (uint32_t i = 0; i < 3; i++)
		CHECK(house_send(other, i, "wait", params));
	house_turn(&house, 20);
	CHECK(!list_is_empty(&house.server->waits));
	close(other);
	house_turn(&house, 20);
	CHECK(list_is_empty(&house.server->waits));
	CHECK(house_program(&house, "", 0));
	CHECK(house_call(&house, client, "wait", params, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	close(client);
	house_close(&house);
}

/* ---- answers from the store ----------------------------------------------------------------- */

TEST(what_was_recorded_is_found_listed_paged_and_counted)
{
	struct house house;
	struct reply reply;
	char params[128];
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run", RUN));
	CHECK(house_program(&house, "0123456789", 0));
	CHECK(house_hear(&house, client, &reply));
	(void)snprintf(params, sizeof(params),
		"{\"run_id\":\"%s\",\"stream\":\"stdout\",\"offset\":3,\"length\":4}",
		house_text(&reply, "run_id"));
	CHECK(house_call(&house, client, "runs.output", params, &reply));
	CHECK(value_equal(value_get(reply.value, "data"), value_text(&house.arena, "3456")));
	CHECK(house_call(&house, client, "runs.get", "{\"run_id\":\"last\"}", &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	CHECK(house_call(&house, client, "runs.list", "{\"limit\":5}", &reply));
	CHECK_EQ_INT(value_get(reply.value, "runs")->list.count, 1);
	CHECK(house_call(&house, client, "stats", "{}", &reply));
	CHECK_EQ_INT(value_as_int(value_get(reply.value, "runs"), 0), 1);
	CHECK(house_call(&house, client, "admin.status", "{}", &reply));
	CHECK_EQ_INT(value_as_int(value_get(reply.value, "records"), 0), 2);
	close(client);
	house_close(&house);
}
