#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/request/registry.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
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

TEST(a_method_that_is_not_there_is_named_and_the_one_that_is_like_it)
{
	static const struct {
		const char *method, *message;
	} tries[] = {
		{ "runs.gett", "there is no method \"runs.gett\"; did you mean runs.get?" },
		{ "quite.another", "there is no method \"quite.another\"" },
		{ "run\x1b[31m", "there is no such method" },
		{ "", "there is no method \"\"" },
	};
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		CHECK(house_call(&house, client, tries[i].method, "{}", &reply));
		CHECK_STR(reply.code, "unknown_method");
		CHECK_STR(reply.message, tries[i].message);
	}
	close(client);
	house_close(&house);
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

static const char ANNOUNCED[] =
	"{\"language\":\"python\",\"code\":\"print(1)\",\"announce\":true,\"id\":\"a\"}";

TEST(who_asks_for_it_is_told_which_run_it_is_before_it_has_begun)
{
	struct house house;
	struct reply reply;
	const char *run_id;
	int client;

	CHECK(house_open(&house, "")); /* no worker */
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", ANNOUNCED));
	CHECK(house_hear(&house, client, &reply));
	run_id = house_text(&reply, "run_id");
	CHECK_EQ_INT(strlen(run_id), RUN_ID_LEN);
	CHECK_EQ_INT(value_as_int(value_get(reply.value, "msgid"), -1), 7);
	CHECK_STR(house_text(&reply, "id"), "a");
	CHECK_EQ_INT(registry_count(&house.server->runs), 1);
	CHECK(registry_find(&house.server->runs, run_id) != NULL);
	close(client);
	house_close(&house);
}

/* Each of these params names the run of message 7. */
static const char *const ways[] = { "{\"id\":\"a\"}", "{\"msgid\":7}" };

TEST(a_run_is_cancelled_by_its_caller_s_own_names)
{
	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		struct house house;
		struct reply reply;
		int client;

		CHECK(house_ready(&house, ""));
		client = house_connect(&house);
		CHECK(house_send(client, 7, "run", ANNOUNCED));
		CHECK(house_hear(&house, client, &reply));
		CHECK(house_at_worker(&house));
		CHECK(house_call(&house, client, "cancel", ways[i], &reply));
		CHECK(!reply.code);
		CHECK(playing_is_closed(&house.play, house.worker.lifeline));
		CHECK(played_ended(&house.worker, 9));
		CHECK(house_hear(&house, client, &reply));
		CHECK_EQ_INT(reply.msgid, 7);
		CHECK_STR(house_text(&reply, "outcome"), "canceled");
		is_refused(&house, client, "cancel", ways[i], "not_found");
		close(client);
		house_close(&house);
	}
}

TEST(a_run_is_cancelled_before_its_client_knows_anything_of_it)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", RUN));
	CHECK(house_send(client, 8, "cancel", "{\"msgid\":7}"));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 8);
	CHECK(!reply.code);
	close(client);
	house_close(&house);
}

TEST(a_run_is_waited_for_by_its_caller_s_own_names)
{
	struct house house;
	struct reply reply;
	int client, other;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	other = house_connect(&house);
	CHECK(house_send(client, 7, "run", ANNOUNCED));
	CHECK(house_hear(&house, client, &reply));
	CHECK(house_send(client, 8, "wait", "{\"msgid\":7}"));
	CHECK(house_send(other, 9, "wait", "{\"id\":\"a\"}"));
	CHECK(house_program(&house, "", 0));
	for (unsigned i = 0; i < 2; i++) {
		CHECK(house_hear(&house, client, &reply));
		CHECK(reply.msgid == 7 || reply.msgid == 8);
		CHECK_STR(house_text(&reply, "outcome"), "ok");
	}
	CHECK(house_hear(&house, other, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	/* An id still names its run after its end; a msgid does not. */
	CHECK(house_call(&house, other, "wait", "{\"id\":\"a\"}", &reply));
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	is_refused(&house, client, "wait", "{\"msgid\":7}", "not_found");
	is_refused(&house, client, "wait", "{\"id\":\"b\"}", "not_found");
	close(client);
	close(other);
	house_close(&house);
}

TEST(a_run_is_named_in_one_way_and_by_its_own_connection)
{
	struct house house;
	struct reply reply;
	int client, other;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	other = house_connect(&house);
	CHECK(house_send(client, 7, "run", ANNOUNCED));
	CHECK(house_hear(&house, client, &reply));
	is_refused(&house, other, "cancel", "{\"msgid\":7}", "not_found");
	is_refused(&house, client, "cancel", "{}", "bad_request");
	is_refused(&house, client, "cancel", "{\"msgid\":7,\"id\":\"a\"}", "bad_request");
	is_refused(&house, client, "wait", "{\"msgid\":7,\"run_id\":\"last\"}", "bad_request");
	is_refused(&house, client, "wait", "{\"id\":\"a\\u0000\"}", "bad_request");
	is_refused(&house, client, "wait", "{\"msgid\":4294967296}", "bad_request");
	CHECK(house_send(client, 7, "run", RUN));
	is_refused(&house, client, "cancel", "{\"msgid\":7}", "conflict");
	CHECK_EQ_INT(registry_count(&house.server->runs), 2);
	close(client);
	close(other);
	house_close(&house);
}

/* Makes a ULID with this time and this end. */
static const char *ulid_of(int64_t ms, const char *end, char ret_text[ULID_LEN + 1])
{
	struct ulid_source source = { 0 };

	if (ulid_next_at(&source, (uint64_t)ms, ret_text, NULL) == 0)
		(void)strcpy(ret_text + 10, end);
	return ret_text;
}

static void send_named(int client, uint32_t msgid, const char *run_id)
{
	char params[160];

	(void)snprintf(params, sizeof(params),
		"{\"language\":\"python\",\"code\":\"print(1)\",\"run_id\":\"%s\"}", run_id);
	CHECK(house_send(client, msgid, "run", params));
}

static void is_taken(struct house *house, int client, const char *run_id)
{
	struct reply reply;

	send_named(client, 5, run_id);
	CHECK(house_hear(house, client, &reply));
	CHECK_STR(reply.code, "conflict");
	CHECK_STR(value_as_text(value_get(reply.data, "pointer")), "/run_id");
	CHECK(strcmp(value_as_text(value_get(reply.data, "run_id")), run_id) != 0);
}

TEST(a_run_has_the_id_that_its_caller_gave_it_and_no_other_run_has)
{
	struct house house;
	struct reply reply;
	char id[ULID_LEN + 1];
	char near[ULID_LEN + 1];
	int64_t now_ms = clock_wall_us() / 1000;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	(void)ulid_of(now_ms - 1000, "ABCDEFGHJKMN0000", id);
	(void)ulid_of(
		now_ms - 1000, "0000000000000000", near); /* the store gives both the same key */
	send_named(client, 4, id);
	CHECK(house_at_worker(&house));
	CHECK(registry_find(&house.server->runs, id) != NULL);
	is_taken(&house, client, id);
	is_taken(&house, client, near);
	CHECK(house_program(&house, "", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "run_id"), id);
	is_taken(&house, client, id); /* now the store knows it */
	is_taken(&house, client, near);
	CHECK_EQ_INT(registry_count(&house.server->runs), 0);
	close(client);
	house_close(&house);
}

TEST(two_that_ask_for_one_id_at_once_do_not_both_get_it)
{
	struct house house;
	struct reply reply;
	char id[ULID_LEN + 1];
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	(void)ulid_of(clock_wall_us() / 1000 - 1, "ABCDEFGHJKMN0000", id);
	send_named(client, 4, id);
	send_named(client, 5, id);
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 5);
	CHECK_STR(reply.code, "conflict");
	CHECK_EQ_INT(registry_count(&house.server->runs), 1);
	close(client);
	house_close(&house);
}

static const char *run_id_params(const char *run_id, const char *more, char (*room)[160])
{
	(void)snprintf(*room, sizeof(*room), "{\"run_id\":\"%s\"%s}", run_id, more);
	return *room;
}

/*
 * The run has not been announced yet: the daemon is still asking the store whether its id is free.
 */
TEST(a_run_is_cancelled_by_the_run_id_that_it_came_with)
{
	struct house house;
	struct reply reply;
	char id[ULID_LEN + 1];
	char params[160];
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	(void)ulid_of(clock_wall_us() / 1000 - 1, "ABCDEFGHJKMN0000", id);
	send_named(client, 4, id);
	CHECK(house_send(client, 5, "wait", run_id_params(id, ",\"timeout_ms\":60000", &params)));
	CHECK(house_send(client, 6, "cancel", run_id_params(id, "", &params)));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 6);
	CHECK(!reply.code);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(house_hear(&house, client, &reply));
		CHECK(reply.msgid == 4 || reply.msgid == 5);
		CHECK_STR(house_text(&reply, "outcome"), "canceled");
		CHECK_STR(house_text(&reply, "run_id"), id);
	}
	close(client);
	house_close(&house);
}

TEST(a_run_is_waited_for_by_the_run_id_that_it_came_with)
{
	struct house house;
	struct reply reply;
	char id[ULID_LEN + 1];
	char params[160];
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	(void)ulid_of(clock_wall_us() / 1000 - 1, "ABCDEFGHJKMN0000", id);
	send_named(client, 4, id);
	CHECK(house_send(client, 5, "wait", run_id_params(id, ",\"timeout_ms\":0", &params)));
	CHECK(house_send(client, 6, "wait", "{\"msgid\":4}"));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 5);
	CHECK_STR(house_text(&reply, "state"), "running");
	CHECK_STR(house_text(&reply, "run_id"), id);
	CHECK(house_at_worker(&house));
	CHECK(house_program(&house, "", 0));
	for (unsigned i = 0; i < 2; i++) {
		CHECK(house_hear(&house, client, &reply));
		CHECK(reply.msgid == 4 || reply.msgid == 6);
		CHECK_STR(house_text(&reply, "run_id"), id);
	}
	close(client);
	house_close(&house);
}

TEST(an_id_of_another_time_is_refused)
{
	static const struct {
		int64_t ms; /* relative to now */
		const char *code;
	} times[] = { { -6 * 60 * 1000, "bad_request" }, { 60 * 1000, "bad_request" } };
	struct house house;
	struct reply reply;
	char id[ULID_LEN + 1];
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		send_named(client, 4,
			ulid_of(clock_wall_us() / 1000 + times[i].ms, "ABCDEFGHJKMN0000", id));
		CHECK(house_hear(&house, client, &reply));
		CHECK_STR(reply.code, times[i].code);
		CHECK_STR(value_as_text(value_get(reply.data, "reason")), "range");
	}
	close(client);
	house_close(&house);
}

TEST(nobody_is_left_to_do_what_is_cancelled_by_its_id)
{
	struct house house;
	struct reply reply;
	int client, other;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	other = house_connect(&house);
	CHECK(house_send(client, 6, "run", RUN)); /* takes the only worker */
	CHECK(house_at_worker(&house));
	CHECK(house_send(client, 7, "run", ANNOUNCED)); /* waits for the worker */
	CHECK(house_hear(&house, client, &reply));
	CHECK(house_send(other, 9, "run", ANNOUNCED)); /* waits for that run */
	CHECK(house_hear(&house, other, &reply));
	for (unsigned tries = 0; tries < 500 && !house.server->queue.users.waiting_count; tries++)
		house_turn(&house, 10);
	CHECK_EQ_INT(house.server->queue.users.waiting_count, 1);
	CHECK(house_send(client, 8, "cancel", ways[0]));
	CHECK(house_hear(&house, other, &reply));
	CHECK_EQ_INT(reply.msgid, 9);
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	for (unsigned i = 0; i < 2; i++) {
		CHECK(house_hear(&house, client, &reply));
		CHECK(reply.msgid == 8 || reply.msgid == 7);
	}
	house_turn(&house, 10);
	CHECK_EQ_INT(registry_count(&house.server->runs), 1);
	CHECK_EQ_INT(house.server->queue.users.waiting_count, 0);
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
	CHECK_EQ_INT(registry_count(&house.server->runs), 1);
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
