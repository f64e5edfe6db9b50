#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/clock.h"
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
	static char rest[2048] = "\x94\x00\x07\xa5hello\x90";
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
	for (unsigned i = 0; i < 32; i++) /* the rest of it, which could be requests */
		CHECK_EQ_INT(write(client, rest, sizeof(rest)), sizeof(rest));
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	CHECK(!reply.code);
	close(client);
	house_close(&house);
}

TEST(the_rest_of_a_message_that_is_too_large_must_arrive_in_time)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, "message_bytes = 4096\nmessage_ms = 100\n"));
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, "\x94\x00\x09\xa3run\x91\xc6\x00\x01\x00\x00", 13), 13);
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(reply.code, "too_large");
	CHECK(playing_is_closed(&house.play, client));
	close(client);
	house_close(&house);
}

TEST(each_message_has_a_deadline_of_its_own)
{
	/* levels that are too many, each message ending in the middle of a read */
	static char bytes[41];
	struct house house;
	struct reply reply;
	int client;
	int64_t until_ms;

	memset(bytes, '\x91', sizeof(bytes) - 1);
	memcpy(bytes, "\x94\x00\x09\xa3run\x91", 8);
	bytes[40] = '\x00';
	CHECK(house_open(&house, "message_ms = 3000\n"));
	client = house_connect(&house);
	CHECK_EQ_INT(write(client, bytes, 20), 20);
	until_ms = clock_ms() + 3500;
	while (clock_ms() < until_ms) {
		CHECK_EQ_INT(write(client, bytes + 20, 21), 21);
		CHECK_EQ_INT(write(client, bytes, 20), 20);
		CHECK(house_hear(&house, client, &reply));
		CHECK_STR(reply.code, "bad_request");
		house_turn(&house, 20);
	}
	CHECK_EQ_INT(write(client, bytes + 20, 21), 21);
	CHECK(house_hear(&house, client, &reply));
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	CHECK(!reply.code);
	close(client);
	house_close(&house);
}

TEST(a_message_that_is_no_msgpack_behind_a_refused_part_is_not_answered_again)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, "message_bytes = 4096\n"));
	client = house_connect(&house);
	/* [0, 9, "run", [[64 Ki entries: ... */
	CHECK_EQ_INT(write(client, "\x94\x00\x09\xa3run\x91\xdd\x00\x01\x00\x00", 13), 13);
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(reply.code, "too_large");
	CHECK_EQ_INT(write(client, "\x94\x00\x07\xc1", 4), 4);
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
	/* It also ignores notifications with other params, such as Neovim's error events. */
	CHECK_EQ_INT(write(client, "\x93\x02\xa1x\x92\x00\xa1y", 8), 8);
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	close(client);
	house_close(&house);
}

/* Reads everything until the connection is closed. */
static const char *hear_text(struct house *house, int client, char *ret_text, size_t size)
{
	size_t used = 0;
	ssize_t got = -1;

	for (unsigned tries = 0; tries < 1000 && got != 0; tries++) {
		house_turn(house, 2);
		got = recv(client, ret_text + used, size - 1 - used, MSG_DONTWAIT);
		used += got > 0 ? (size_t)got : 0;
		if (got < 0 && errno == ECONNRESET)
			got = 0;
	}
	ret_text[used] = '\0';
	return got == 0 ? ret_text : "it was not closed";
}

TEST(who_speaks_something_else_is_told_in_one_line_what_is_spoken_here)
{
	static const struct {
		const char *sent;
		const char *begins, *holds;
	} strangers[] = {
		{ "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 ",
			"MessagePack-RPC, not HTTP" },
		{ "P", "HTTP/1.1 400 ", "MessagePack-RPC" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}\n", "{\"error\": \"ced: ", "not JSON" },
		{ "[0, 1, \"hello\", []]\n", "{\"error\": \"ced: ", "not JSON" },
		{ "hello\n", "ced: ", "MessagePack-RPC, not text" },
		{ "\n", "ced: ", "cectl" },
	};
	struct house house;

	CHECK(house_open(&house, ""));
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		char text[1024];
		int client = house_connect(&house);
		size_t len = strlen(strangers[i].sent);

		CHECK_EQ_INT(write(client, strangers[i].sent, len), len);
		(void)hear_text(&house, client, text, sizeof(text));
		CHECK(strncmp(text, strangers[i].begins, strlen(strangers[i].begins)) == 0);
		CHECK(strstr(text, strangers[i].holds));
		CHECK_EQ_INT(text[strlen(text) - 1], '\n');
		close(client);
	}
	house_close(&house);
}

TEST(who_has_spoken_msgpack_is_not_answered_in_text)
{
	struct house house;
	struct reply reply;
	char text[64];
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK(house_call(&house, client, "hello", "{}", &reply));
	CHECK_EQ_INT(write(client, "GET", 3), 3);
	CHECK_STR(hear_text(&house, client, text, sizeof(text)), "");
	close(client);
	house_close(&house);
}

#define LARGE_TEXT 70000 /* larger than a message that the loop decodes itself */

/* `front`, then a text of LARGE_TEXT bytes, then `end`. */
static bool send_large(int client, const char *front, size_t front_len, const char *end)
{
	static char text[LARGE_TEXT];
	static const char head[] = "\xdb\x00\x01\x11\x70";

	memset(text, 'a', sizeof(text));
	return write(client, front, front_len) == (ssize_t)front_len &&
	       write(client, head, sizeof(head) - 1) == (ssize_t)sizeof(head) - 1 &&
	       write(client, text, sizeof(text)) == (ssize_t)sizeof(text) &&
	       write(client, end, strlen(end)) == (ssize_t)strlen(end);
}

/* Large messages from which the daemon cannot read a request's id. */
static const struct {
	const char *front; /* before the text */
	size_t front_len;
	const char *end;
	bool closes;
} large_broken[] = {
	{ "", 0, "", true },                           /* bare text */
	{ "\x91", 1, "", true },                       /* a list */
	{ "\x81\xa1k", 3, "", true },                  /* a map */
	{ "\x94\x00", 2, "\xa3run\x90", true },        /* a request whose id is text */
	{ "\x94\x01", 2, "\xc0\xc0", true },           /* a response whose id is text */
	{ "\x94\x02\xa1x", 4, "\x90", true },          /* a notification of four parts */
	{ "\x93\x02\xa1x", 4, "", false },             /* a notification whose params are text */
	{ "\x93\x02", 2, "\x90", false },              /* its method is too long */
	{ "\xdc\x00\x03\xcc\x02\xa1x", 7, "", false }, /* the same, with longer heads */
	{ "\x93\x02\xa1\xff", 4, "", false },          /* its method is not UTF-8 */
};

TEST(a_large_message_that_is_no_request_ends_no_more_than_its_connection)
{
	struct house house;
	struct reply reply;

	CHECK(house_open(&house, ""));
	for (size_t i = 0; i < sizeof(large_broken) / sizeof(large_broken[0]); i++) {
		int client = house_connect(&house);

		CHECK(send_large(client, large_broken[i].front, large_broken[i].front_len,
			large_broken[i].end));
		if (large_broken[i].closes) {
			CHECK(playing_is_closed(&house.play, client));
		} else {
			CHECK(house_call(&house, client, "hello", "{}", &reply));
			CHECK(!reply.code);
		}
		close(client);
	}
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
