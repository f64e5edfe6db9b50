#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/house.h"

static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\"}";

TEST(a_message_may_come_byte_by_byte_and_two_in_one_piece)
{
	/* [0, 1, "hello", []] twice */
	static const char hello[] = "\x94\x00\x01\xa5hello\x90\x94\x00\x02\xa5hello\x90";
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	for (size_t i = 0; i < 9; i++) {
		CHECK_EQ_INT(write(client, hello + i, 1), 1);
		house_turn(&house, 0);
	}
	CHECK_EQ_INT(write(client, hello + 9, sizeof(hello) - 10), sizeof(hello) - 10);
	for (uint32_t msgid = 1; msgid <= 2; msgid++) {
		CHECK(house_hear(&house, client, &reply));
		CHECK_EQ_INT(reply.msgid, msgid);
		CHECK_STR(house_text(&reply, "server"), "ced");
	}
	close(client);
	house_close(&house);
}

TEST(what_is_no_message_is_answered_where_it_has_a_number_and_ends_the_connection)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, "\x94\x00\x07\xc1", 4), 4);
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 7);
	CHECK_STR(reply.code, "bad_request");
	CHECK(playing_is_closed(&house.play, client));
	close(client);
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, "\xc1", 1), 1);
	CHECK(playing_is_closed(&house.play, client));
	close(client);
	house_close(&house);
}

TEST(an_envelope_that_is_none_is_refused_and_the_connection_goes_on)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, "\x94\x00\x07\x01\x90", 5), 5); /* method 1 */
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(reply.code, "bad_request");
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	CHECK(!reply.code);
	close(client);
	house_close(&house);
}

TEST(a_message_that_is_too_large_is_told_so)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, "message_bytes = 4096\n"));
	client = house_connect(&house);
	/* [0, 9, "run", [ 64 KiB of bytes ... */
	CHECK_EQ_INT(write(client, "\x94\x00\x09\xa3run\x91\xc6\x00\x01\x00\x00", 13), 13);
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 9);
	CHECK_STR(reply.code, "too_large");
	CHECK(playing_is_closed(&house.play, client));
	close(client);
	house_close(&house);
}

TEST(a_message_that_is_begun_must_become_whole_in_time)
{
	struct house house;
	int client;

	CHECK(house_open(&house, "message_ms = 100\n"));
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, "\x94\x00", 2), 2);
	CHECK(playing_is_closed(&house.play, client));
	close(client);
	house_close(&house);
}

TEST(answers_and_notifications_of_a_client_mean_nothing)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, "\x94\x01\x01\xc0\xc0\x93\x02\xa1x\x90", 10), 10);
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	/* Nor do those whose params are not ours: Neovim's error events. */
	CHECK_EQ_INT(write(client, "\x93\x02\xa1x\x92\x00\xa1y", 8), 8);
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	close(client);
	house_close(&house);
}

TEST(a_client_that_leaves_takes_its_run_along)
{
	struct house house;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run", RUN));
	CHECK(house_at_worker(&house));
	close(client);
	CHECK(playing_is_closed(&house.play, house.worker.lifeline));
	house_close(&house);
}

TEST(more_requests_than_a_connection_may_have_are_told_busy)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, "requests_per_connection = 1\n"));
	client = house_connect(&house);
	CHECK(house_send(client, 1, "run", RUN));
	CHECK(house_send(client, 2, "hello", "{}"));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 2);
	CHECK_STR(reply.code, "busy");
	CHECK(house_program(&house, "", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 1);
	close(client);
	house_close(&house);
}

TEST(whatever_allocation_fails_a_client_is_answered_or_let_go)
{
	struct house house;

	CHECK(house_open(&house, ""));
	FAULT_LOOP(FAULT_ALLOC) {
		struct reply reply = { 0 };
		int client = house_connect(&house);
		bool heard;

		CHECK(client >= 0);
		CHECK_EQ_INT(write(client, "\x94\x00\x01\xa5hello\x90", 10), 10);
		heard = house_hear(&house, client, &reply);
		CHECK((heard && !reply.code) || fault_hit());
		fault_disarm();
		close(client);
		house_turn(&house, 0);
	}
	house_close(&house);
}
