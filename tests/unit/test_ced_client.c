/* clients/c without a daemon: values, JSON, and a peer that has prepared what it says. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/c/ced.h"
#include "tests/check.h"
#include "tests/fault.h"

#define RUN_ID "01AAAAAAAAAAAAAAAAAAAAAAAA"

/* ---- helpers -------------------------------------------------------------------------------- */

/* A value from a JSON text, in a buffer of the test. */
static struct ced_value json(struct ced_buffer *buffer, const char *text)
{
	ced_buffer_done(buffer);
	if (ced_json(buffer, text) < 0)
		abort();
	return ced_buffer_value(buffer);
}

/* A client and the daemon's end of its connection. */
struct pair {
	struct ced_client *client;
	int daemon;
};

static void pair_init(struct pair *pair)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		abort();
	pair->client = ced_attach(fds[0], NULL);
	pair->daemon = fds[1];
	if (!pair->client)
		abort();
}

static void pair_done(struct pair *pair)
{
	ced_close(pair->client);
	if (pair->daemon >= 0)
		close(pair->daemon);
}

/* The daemon says a message, given as JSON. */
static void says(struct pair *pair, const char *text)
{
	struct ced_buffer message = { 0 };
	struct ced_value value = json(&message, text);

	if (write(pair->daemon, value.bytes, value.len) != (ssize_t)value.len)
		abort();
	ced_buffer_done(&message);
}

/* What the daemon got, as one piece of bytes. */
static size_t heard(struct pair *pair, char *bytes, size_t size)
{
	ssize_t got = recv(pair->daemon, bytes, size, MSG_DONTWAIT);

	return got > 0 ? (size_t)got : 0;
}

static bool has(const char *bytes, size_t len, const char *text)
{
	return memmem(bytes, len, text, strlen(text)) != NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

TEST(values_are_read_by_their_type)
{
	struct ced_buffer buffer = { 0 };
	struct ced_value map = json(&buffer,
		"{\"text\": \"h\\u00e9\", \"n\": -5, \"big\": 18446744073709551615, \"real\": 1.5,"
		" \"yes\": true, \"no\": null, \"list\": [1, [2, {\"a/b\": {\"~\": 7}}]]}");
	struct ced_value items = ced_items(ced_get(map, "list"));
	struct ced_value item;
	char text[3];
	size_t len;

	CHECK_EQ_INT(ced_type(map), CED_MAP);
	CHECK_EQ_INT(ced_count(map), 7);
	CHECK(ced_is(ced_get(map, "text"), "hé"));
	CHECK(!ced_is(ced_get(map, "text"), "h"));
	CHECK(ced_text(ced_get(map, "text"), &len) != NULL);
	CHECK_EQ_INT(len, 3);
	CHECK_STR(ced_copy_text(ced_get(map, "text"), text, sizeof(text)), "h");
	CHECK_STR(ced_copy_text(ced_get(map, "n"), text, sizeof(text)), "");
	CHECK_EQ_INT(ced_int(ced_get(map, "n"), 0), -5);
	CHECK_EQ_INT(ced_uint(ced_get(map, "n"), 3), 3);
	CHECK_EQ_INT(ced_int(ced_get(map, "big"), 3), 3);
	CHECK(ced_uint(ced_get(map, "big"), 3) == UINT64_MAX);
	CHECK(ced_real(ced_get(map, "real"), 0) > 1.4 && ced_real(ced_get(map, "real"), 0) < 1.6);
	CHECK(ced_real(ced_get(map, "n"), 0) < -4.9);
	CHECK(ced_real(ced_get(map, "big"), 0) > 1e19);
	CHECK(ced_real(ced_get(map, "text"), 3) > 2.9);
	CHECK(ced_bool(ced_get(map, "yes"), false));
	CHECK(ced_bool(ced_get(map, "n"), true));
	CHECK_EQ_INT(ced_type(ced_get(map, "no")), CED_NIL);
	CHECK_EQ_INT(ced_type(ced_get(map, "absent")), CED_NONE);
	CHECK_EQ_INT(ced_int(ced_find(map, "/list/1/1/a~1b/~0"), 0), 7);
	CHECK_EQ_INT(ced_find(map, "/list/x").len, 0);
	CHECK_EQ_INT(ced_find(map, "/list/2").len, 0);
	CHECK_EQ_INT(ced_find(map, "list").len, 0);
	CHECK(ced_next(&items, &item) && ced_int(item, 0) == 1);
	CHECK(ced_next(&items, &item) && ced_count(item) == 2);
	CHECK(!ced_next(&items, &item));
	CHECK_EQ_INT(ced_at(map, 0).len, 0);
	ced_buffer_done(&buffer);
}

TEST(values_that_are_cut_are_absent)
{
	struct ced_buffer buffer = { 0 };
	struct ced_value whole = json(&buffer, "{\"a\": [1, 2.5, \"text\", {\"b\": null}]}");

	for (size_t len = 0; len < whole.len; len++) {
		struct ced_value cut = { malloc(len + 1), len };
		size_t text_len;

		memcpy((char *)(uintptr_t)cut.bytes, whole.bytes, len);
		(void)ced_find(cut, "/a/3/b");
		(void)ced_text(cut, &text_len);
		CHECK_EQ_INT(ced_items(cut).len, 0);
		CHECK_EQ_INT(ced_find(cut, "/a/3/b").len, 0);
		free((char *)(uintptr_t)cut.bytes);
	}
	CHECK_EQ_INT(ced_type(ced_find(whole, "/a/3/b")), CED_NIL);
	ced_buffer_done(&buffer);
}

TEST(heads_of_all_kinds_are_known)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum ced_type type;
		int64_t number;
	} rows[] = {
		{ "\xcc\xff", 2, CED_INT, 255 },
		{ "\xcd\x01\x00", 3, CED_INT, 256 },
		{ "\xce\x00\x01\x00\x00", 5, CED_INT, 65536 },
		{ "\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 9, CED_INT, INT64_C(4294967296) },
		{ "\xd0\x80", 2, CED_INT, -128 },
		{ "\xd0\x7f", 2, CED_INT, 127 },
		{ "\xd1\x80\x00", 3, CED_INT, -32768 },
		{ "\xd2\x80\x00\x00\x00", 5, CED_INT, INT64_C(-2147483648) },
		{ "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9, CED_INT, INT64_MIN },
		{ "\xe0", 1, CED_INT, -32 },
		{ "\xd4\x01\x02", 3, CED_EXTENSION, -1 },
		{ "\xc7\x01\x05\x00", 4, CED_EXTENSION, -1 },
		{ "\xc4\x01\x00", 3, CED_BYTES, -1 },
		{ "\xc1", 1, CED_NONE, -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ced_value value = { rows[i].bytes, rows[i].len };

		CHECK_EQ_INT(ced_type(value), rows[i].type);
		CHECK_EQ_INT(ced_int(value, -1), rows[i].number);
	}
	CHECK(ced_real((struct ced_value){ "\xca\x3f\xc0\x00\x00", 5 }, 0) > 1.4);
}

TEST(what_is_no_json_is_refused)
{
	static const char *const wrong[] = { "", "{", "[1,]", "{\"a\" 1}", "{a: 1}", "01", "1.",
		"1e", "-", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
		"\"\\udc00\"", "\"a\nb\"", "truth", "1 2", "1e999", "-1e999", "nul", "[1 2]",
		"11111111111111111111111111111111111111111111111111111111111111111111111", "\"\\" };
	struct ced_buffer nested = { 0 };
	char deep[200];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ced_buffer buffer = { 0 };

		CHECK_EQ_INT(ced_json(&buffer, wrong[i]), -1);
		CHECK(buffer.failed);
		CHECK_EQ_INT(ced_buffer_value(&buffer).len, 0);
		ced_buffer_done(&buffer);
	}
	memset(deep, '[', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	CHECK_EQ_INT(ced_json(&nested, deep), -1);
	ced_buffer_done(&nested);
}

TEST(json_keeps_texts_and_numbers_exact)
{
	struct ced_buffer buffer = { 0 };
	struct ced_value list = json(&buffer,
		" [\"\\ud83d\\ude00\\u20ac\\n\\\"\\/\\t\\u0000\", -9223372036854775808, 1E+2, "
		"-0.5e-1, 99999999999999999999, {}, [], false] ");
	size_t len;

	CHECK(memcmp(ced_text(ced_at(list, 0), &len), "😀€\n\"/\t", 12) == 0);
	CHECK_EQ_INT(len, 12);
	CHECK_EQ_INT(ced_int(ced_at(list, 1), 0), INT64_MIN);
	CHECK(ced_real(ced_at(list, 2), 0) > 99.9);
	CHECK(ced_real(ced_at(list, 3), 0) < -0.04);
	CHECK(ced_real(ced_at(list, 4), 0) > 9e19);
	CHECK_EQ_INT(ced_type(ced_at(list, 5)), CED_MAP);
	CHECK_EQ_INT(ced_type(ced_at(list, 6)), CED_LIST);
	ced_buffer_done(&buffer);
}

/* ---- what comes ----------------------------------------------------------------------------- */

struct got {
	int answers, notices;
	bool stops;
};

static int on_notice(void *context, const char *method, struct ced_value params)
{
	struct got *got = context;

	got->notices += strcmp(method, "event") == 0 && ced_type(params) == CED_MAP;
	return got->stops;
}

static int on_answer(void *context, uint32_t msgid, struct ced_value error, struct ced_value result)
{
	struct got *got = context;

	got->answers += (msgid == 3 && ced_is(result, "fine") && !error.len) ||
			(msgid == 4 && ced_is(error, "wrong") && !result.len);
	return got->stops;
}

static void add(struct ced_buffer *all, const char *text)
{
	if (ced_json(all, text) < 0)
		abort();
}

TEST(messages_come_whole_however_they_are_cut)
{
	struct ced_buffer all = { 0 };

	add(&all, "[1, 3, null, \"fine\"]");
	add(&all, "[2, \"event\", [{\"n\": 1}]]");
	add(&all, "[1, 4, \"wrong\", null]");
	add(&all, "[2, \"event\", []]");
	for (size_t piece = 1; piece <= all.len; piece++) {
		struct got got = { 0 };
		const struct ced_handlers handlers = { &got, on_notice, on_answer };
		struct ced_client *client = ced_attach(-1, NULL);

		ced_handle(client, &handlers);
		for (size_t at = 0; at < all.len; at += piece)
			CHECK_EQ_INT(ced_feed(client, all.bytes + at,
					     all.len - at < piece ? all.len - at : piece, NULL),
				0);
		CHECK_EQ_INT(got.answers, 2);
		CHECK_EQ_INT(got.notices, 2);
		ced_close(client);
	}
	ced_buffer_done(&all);
}

TEST(an_answer_to_a_call_that_is_refused_is_given_again_as_an_error_and_once)
{
	struct ced_client *client = ced_attach(-1, NULL);
	struct ced_buffer call = { 0 };
	struct ced_buffer all = { 0 };
	const char *bytes;
	size_t len;

	add(&call, "{\"run_id\": \"" RUN_ID "\", \"call\": 7, \"tool\": \"t\"}");
	CHECK_EQ_INT(ced_answer_call(client, ced_buffer_value(&call),
			     ced_get(ced_buffer_value(&call), "tool"), NULL, NULL),
		0);
	CHECK_EQ_INT(ced_answer_call(client, ced_buffer_value(&call), (struct ced_value){ NULL, 0 },
			     "no", NULL),
		0);
	bytes = ced_unsent(client, &len);
	ced_sent(client, len);
	add(&all, "[1, 1, null, {}]");
	add(&all,
		"[1, 0, {\"code\": \"bad_request\", \"message\": \"a map key is not text\"}, null]");
	CHECK_EQ_INT(ced_feed(client, all.bytes, all.len, NULL), 0);
	bytes = ced_unsent(client, &len);
	CHECK(has(bytes, len, "call.reply"));
	CHECK(has(bytes, len, RUN_ID));
	CHECK(has(bytes, len, "the tool's answer cannot be sent: a map key is not text"));
	ced_sent(client, len);
	all.len = 0;
	add(&all, "[1, 2, {\"code\": \"conflict\", \"message\": \"over\"}, null]");
	CHECK_EQ_INT(ced_feed(client, all.bytes, all.len, NULL), 0);
	(void)ced_unsent(client, &len);
	CHECK_EQ_INT(len, 0);
	CHECK_EQ_INT(ced_answer_call(client, ced_buffer_value(&call), (struct ced_value){ NULL, 0 },
			     "left", NULL),
		0);
	ced_close(client);
	ced_buffer_done(&all);
	ced_buffer_done(&call);
}

TEST(a_handler_that_stops_gets_the_next_message_in_the_next_step)
{
	struct got got = { .stops = true };
	const struct ced_handlers handlers = { &got, on_notice, on_answer };
	struct ced_client *client = ced_attach(-1, NULL);
	struct ced_buffer all = { 0 };

	add(&all, "[1, 3, null, \"fine\"]");
	add(&all, "[2, \"event\", []]");
	ced_handle(client, &handlers);
	CHECK_EQ_INT(ced_feed(client, all.bytes, all.len, NULL), 0);
	CHECK_EQ_INT(got.answers + got.notices, 1);
	CHECK_EQ_INT(ced_step(client, 0, NULL), 1);
	CHECK_EQ_INT(got.answers + got.notices, 2);
	CHECK_EQ_INT(ced_step(client, 0, NULL), 0);
	ced_close(client);
	ced_buffer_done(&all);
}

TEST(what_is_no_message_ends_the_client)
{
	static const char *const wrong[] = { "[0, 1, \"run\", [{}]]", "[1, 1, null]", "{}", "1",
		"[1, -1, null, 1]", "[1, 4294967296, null, 1]", "[2, 5, [{}]]", "[2, \"e\", {}]",
		"[2, \"e\", [1]]", "[2, \"e\", [{}, {}]]", "[2, \"e\\u0000\", []]",
		"[2, \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", []]" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ced_client *client = ced_attach(-1, NULL);
		struct ced_buffer buffer = { 0 };
		struct ced_error error = { 0 };
		struct ced_value bytes = json(&buffer, wrong[i]);

		CHECK_EQ_INT(ced_feed(client, bytes.bytes, bytes.len, &error), -1);
		CHECK_EQ_INT(error.failure, CED_BROKEN);
		CHECK_EQ_INT(ced_step(client, 0, &error), -1);
		CHECK_EQ_INT(ced_feed(client, "", 0, &error), -1);
		CHECK_EQ_INT(ced_ask(client, "hello", (struct ced_value){ 0 }, NULL, &error), -1);
		CHECK_EQ_INT(error.failure, CED_BROKEN);
		ced_close(client);
		ced_buffer_done(&buffer);
	}
}

TEST(a_declared_length_takes_no_memory)
{
	static const char *const declared[] = { "\xdd\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff",
		"\xdf\xff\xff\xff\xff" };

	for (size_t i = 0; i < 3; i++) {
		struct ced_client *client = ced_attach(-1, NULL);
		struct ced_error error = { 0 };

		CHECK_EQ_INT(ced_feed(client, declared[i], 5, &error), -1);
		CHECK_EQ_INT(error.failure, CED_BROKEN);
		ced_close(client);
	}
}

TEST(requests_are_numbered_and_wait_until_they_are_sent)
{
	struct ced_client *client = ced_attach(-1, NULL);
	uint32_t msgid = 7;
	size_t len;

	CHECK_EQ_INT(ced_fd(client), -1);
	CHECK_EQ_INT(ced_events(client), POLLIN);
	CHECK_EQ_INT(ced_ask(client, "hello", (struct ced_value){ 0 }, &msgid, NULL), 0);
	CHECK_EQ_INT(msgid, 0);
	CHECK_EQ_INT(ced_ask(client, "hello", (struct ced_value){ "\x80", 1 }, &msgid, NULL), 0);
	CHECK_EQ_INT(msgid, 1);
	CHECK_EQ_INT(ced_events(client), POLLIN | POLLOUT);
	CHECK(memcmp(ced_unsent(client, &len), "\x94\x00\x00\xa5hello\x90", 10) == 0);
	CHECK_EQ_INT(len, 21);
	ced_sent(client, 10);
	CHECK(memcmp(ced_unsent(client, &len), "\x94\x00\x01\xa5hello\x91\x80", 11) == 0);
	ced_sent(client, 5);
	CHECK_EQ_INT(ced_ask(client, "x", (struct ced_value){ 0 }, NULL, NULL), 0);
	(void)ced_unsent(client, &len);
	CHECK_EQ_INT(len, 12);
	ced_sent(client, len);
	CHECK_EQ_INT(ced_events(client), POLLIN);
	ced_close(client);
}

/* ---- asking and waiting --------------------------------------------------------------------- */

TEST(an_answer_is_kept_until_it_is_done)
{
	struct ced_answer answer = { 0 };
	struct pair pair;

	pair_init(&pair);
	says(&pair, "[1, 99, null, \"of another request\"]");
	says(&pair, "[1, 0, null, {\"outcome\": \"ok\"}]");
	CHECK_EQ_INT(
		ced_call_json(pair.client, "wait", "{\"run_id\": \"last\"}", NULL, &answer, NULL),
		0);
	pair_done(&pair);
	CHECK(ced_is(ced_get(answer.result, "outcome"), "ok"));
	ced_answer_done(&answer);
	ced_answer_done(&answer);
}

TEST(an_error_has_its_word_its_place_and_the_whole)
{
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;

	pair_init(&pair);
	says(&pair,
		"[1, 0, {\"code\": \"bad_request\", \"message\": \"/limits/pids: no\", \"data\":"
		" {\"pointer\": \"/limits/pids\", \"reason\": \"range\", \"run_id\": \"" RUN_ID
		"\", \"retry_after_ms\": 5}}, null]");
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, NULL, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_REFUSED);
	CHECK_STR(error.word, "bad_request");
	CHECK_STR(error.pointer, "/limits/pids");
	CHECK_STR(error.reason, "range");
	CHECK_STR(error.run_id, RUN_ID);
	CHECK_STR(error.message, "/limits/pids: no");
	CHECK_EQ_INT(error.retry_after_ms, 0);
	CHECK(ced_is(ced_get(answer.error, "code"), "bad_request"));
	ced_answer_done(&answer);
	pair_done(&pair);
}

#define BUSY(id)  \
	"[1, " id \
	", {\"code\": \"busy\", \"message\": \"\", \"data\": {\"retry_after_ms\": 20}}, null]"

/* The daemon refuses the second request twice, each time it is sent, and then takes it. */
static int refuse_twice(void *context)
{
	static const char *const answers[] = { BUSY("1"), BUSY("2"), "[1, 3, null, 42]" };
	static int at;
	char bytes[256];
	struct pair *pair = context;

	if (at < 3 && heard(pair, bytes, sizeof(bytes)) > 0)
		says(pair, answers[at++]);
	return 0;
}

TEST(busy_is_asked_again_as_long_as_the_caller_says)
{
	struct ced_answer answer = { 0 };
	struct ced_error error;
	char bytes[256];
	struct pair pair;
	const struct ced_watch watch = {
		.context = &pair, .on_turn = refuse_twice, .busy_ms = 60000, .timeout_ms = 60000
	};

	pair_init(&pair);
	says(&pair, BUSY("0"));
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, NULL, &answer, &error), -1);
	CHECK_STR(error.word, "busy");
	CHECK_EQ_INT(error.retry_after_ms, 20);
	CHECK(heard(&pair, bytes, sizeof(bytes)) > 0);
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, &watch, &answer, &error), 0);
	CHECK_EQ_INT(ced_int(answer.result, 0), 42);
	ced_answer_done(&answer);
	pair_done(&pair);
}

TEST(a_call_that_takes_too_long_is_cancelled)
{
	const struct ced_watch watch = { .timeout_ms = 30 };
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;
	char bytes[256];
	size_t len;

	pair_init(&pair);
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, &watch, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_TIMED_OUT);
	len = heard(&pair, bytes, sizeof(bytes));
	CHECK(has(bytes, len, "cancel") && has(bytes, len, "msgid"));
	pair_done(&pair);
}

static int stop_at_output(void *context, const char *method, struct ced_value params)
{
	int *seen = context;

	(void)params;
	++*seen;
	return strcmp(method, "run.output") == 0;
}

static int stop_at_once(void *context)
{
	(void)context;
	return 1;
}

#define STARTED "[2, \"run.started\", [{\"run_id\": \"" RUN_ID "\", \"msgid\": 0}]]"

TEST(a_watch_can_end_a_call_and_hears_only_of_its_own_run)
{
	int seen = 0;
	struct got got = { 0 };
	const struct ced_handlers handlers = { &got, on_notice, on_answer };
	const struct ced_watch watch = { .context = &seen, .on_event = stop_at_output };
	const struct ced_watch at_once = { .on_turn = stop_at_once };
	const struct ced_job job = { .code = "print(1)", .stream = true };
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;

	pair_init(&pair);
	ced_handle(pair.client, &handlers);
	says(&pair, "[2, \"run.output\", [{\"run_id\": \"01BBBBBBBBBBBBBBBBBBBBBBBB\"}]]");
	says(&pair, STARTED);
	says(&pair, "[2, \"event\", [{\"run_id\": \"" RUN_ID "\"}]]");
	says(&pair, "[2, \"run.output\", [{\"run_id\": \"" RUN_ID "\"}]]");
	CHECK_EQ_INT(ced_run(pair.client, &job, &watch, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_STOPPED);
	CHECK_EQ_INT(seen, 2);
	CHECK_EQ_INT(got.notices, 1);
	CHECK_EQ_INT(ced_run(pair.client, &job, &at_once, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_STOPPED);
	pair_done(&pair);
}

static int pause_ends(void *context)
{
	int *turns = context;

	return ++*turns > 2;
}

TEST(a_watch_can_end_the_pause_after_busy)
{
	int turns = 0;
	const struct ced_watch watch = {
		.context = &turns, .on_turn = pause_ends, .busy_ms = 60000
	};
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;

	pair_init(&pair);
	says(&pair, "[1, 0, {\"code\": \"busy\", \"data\": {\"retry_after_ms\": 50000}}, null]");
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, &watch, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_STOPPED);
	ced_answer_done(&answer);
	pair_done(&pair);
}

TEST(a_daemon_that_goes_is_a_lost_connection)
{
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;

	pair_init(&pair);
	close(pair.daemon);
	pair.daemon = -1;
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, NULL, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_LOST);
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, NULL, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_LOST);
	pair_done(&pair);
}

TEST(wrong_json_is_the_callers_mistake)
{
	const struct ced_job job = { .code = "1", .schema_json = "{" };
	const struct ced_tool tool = { .name = "t", .params_json = "[" };
	const struct ced_job with_tool = { .code = "1", .tools = &tool, .tool_count = 1 };
	struct ced_answer answer = { 0 };
	char session[CED_ID_SIZE];
	struct ced_error error;
	struct pair pair;

	pair_init(&pair);
	CHECK_EQ_INT(ced_call_json(pair.client, "runs.list", "{", NULL, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	CHECK_EQ_INT(ced_run(pair.client, &job, NULL, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	CHECK_EQ_INT(ced_run(pair.client, &with_tool, NULL, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	CHECK_EQ_INT(ced_session_open(pair.client, NULL, "{", session, &error), -1);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	pair_done(&pair);
}

/* A daemon that says nonsense about the time. */
TEST(a_time_to_come_back_that_never_comes_is_not_waited_for)
{
	const struct ced_watch watch = { .busy_ms = 10, .timeout_ms = INT64_MAX };
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;

	pair_init(&pair);
	says(&pair, "[1, 0, {\"code\": \"busy\", \"data\": {\"retry_after_ms\": "
		    "9223372036854775807}}, null]");
	CHECK_EQ_INT(ced_call_json(pair.client, "run", NULL, &watch, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_REFUSED);
	CHECK(error.retry_after_ms == INT64_MAX);
	ced_answer_done(&answer);
	pair_done(&pair);
}

/* Whatever has come already: the daemon must hear at once that the run is not wanted. */
TEST(a_call_that_is_stopped_is_cancelled_before_anything_else)
{
	int seen = 0;
	const struct ced_watch watch = { .context = &seen, .on_event = stop_at_output };
	const struct ced_job job = { .code = "print(1)", .stream = true };
	struct ced_answer answer = { 0 };
	struct ced_error error;
	struct pair pair;
	char bytes[2048];
	size_t len;

	pair_init(&pair);
	says(&pair, STARTED);
	for (int i = 0; i < 4; i++)
		says(&pair, "[2, \"run.output\", [{\"run_id\": \"" RUN_ID "\"}]]");
	CHECK_EQ_INT(ced_run(pair.client, &job, &watch, &answer, &error), -1);
	CHECK_EQ_INT(error.failure, CED_STOPPED);
	len = heard(&pair, bytes, sizeof(bytes));
	CHECK(has(bytes, len, "cancel"));
	CHECK(ced_pending(pair.client));
	CHECK_EQ_INT(ced_step(pair.client, 0, NULL), 1);
	CHECK(!ced_pending(pair.client));
	pair_done(&pair);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static int double_it(void *context, struct ced_value args, struct ced_buffer *result)
{
	(void)context;
	if (ced_int(ced_get(args, "n"), 0) == 0)
		return ced_buffer_write(result, "no n", 4) + 1;
	ced_put_int(result, 2 * ced_int(ced_get(args, "n"), 0));
	return 0;
}

TEST(tools_are_called_and_answered)
{
	const struct ced_tool tool = { .name = "double", .call = double_it };
	const struct ced_job job = { .code = "1", .tools = &tool, .tool_count = 1 };
	struct ced_answer answer = { 0 };
	struct pair pair;
	char bytes[2048];
	size_t len;

	pair_init(&pair);
	says(&pair, STARTED);
	says(&pair, "[2, \"run.call\", [{\"run_id\": \"" RUN_ID
		    "\", \"call\": 1, \"tool\": \"double\", \"args\": {\"n\": 21}}]]");
	says(&pair, "[2, \"run.call\", [{\"run_id\": \"" RUN_ID
		    "\", \"call\": 2, \"tool\": \"double\", \"args\": {}}]]");
	says(&pair, "[2, \"run.call\", [{\"run_id\": \"" RUN_ID
		    "\", \"call\": 3, \"tool\": \"other\", \"args\": {}}]]");
	says(&pair, "[1, 0, null, {\"ok\": true}]");
	CHECK_EQ_INT(ced_run(pair.client, &job, NULL, &answer, NULL), 0);
	CHECK(ced_step(pair.client, 0, NULL) >= 0);
	len = heard(&pair, bytes, sizeof(bytes));
	CHECK(has(bytes, len, "announce") && has(bytes, len, "input_schema"));
	CHECK(has(bytes, len,
		"\xa4"
		"call\x01\xa6result\x2a"));
	CHECK(has(bytes, len, "no n"));
	CHECK(has(bytes, len, "there is no such tool here"));
	ced_answer_done(&answer);
	pair_done(&pair);
}

/* 0: text where msgpack belongs; 1: an error that is no UTF-8; 2: one that is too long. */
static int clumsy_tool(void *context, struct ced_value args, struct ced_buffer *result)
{
	int64_t way = ced_int(ced_get(args, "way"), 0);

	(void)context;
	for (int i = 0; way == 2 && i < 8193; i++)
		(void)ced_buffer_write(result, "\u00e9", 2);
	if (way == 2)
		return 1;
	(void)ced_buffer_write(result, way ? "caf\xe9" : "42", way ? 4 : 2);
	return way ? 1 : 0;
}

TEST(what_a_tool_gives_is_looked_at_before_it_is_sent)
{
	const struct ced_tool tool = { .name = "clumsy", .call = clumsy_tool };
	const struct ced_job job = { .code = "1", .tools = &tool, .tool_count = 1 };
	struct ced_answer answer = { 0 };
	struct pair pair;
	static char bytes[20000];
	size_t len;

	pair_init(&pair);
	says(&pair, STARTED);
	says(&pair, "[2, \"run.call\", [{\"run_id\": \"" RUN_ID
		    "\", \"call\": 1, \"tool\": \"clumsy\", \"args\": {\"way\": 0}}]]");
	says(&pair, "[2, \"run.call\", [{\"run_id\": \"" RUN_ID
		    "\", \"call\": 2, \"tool\": \"clumsy\", \"args\": {\"way\": 1}}]]");
	says(&pair, "[2, \"run.call\", [{\"run_id\": \"" RUN_ID
		    "\", \"call\": 3, \"tool\": \"clumsy\", \"args\": {\"way\": 2}}]]");
	says(&pair, "[1, 0, null, {\"ok\": true}]");
	CHECK_EQ_INT(ced_run(pair.client, &job, NULL, &answer, NULL), 0);
	CHECK(ced_step(pair.client, 0, NULL) >= 0);
	len = heard(&pair, bytes, sizeof(bytes));
	CHECK(has(bytes, len, "the tool gave no result that is msgpack"));
	CHECK(has(bytes, len, "caf?"));
	CHECK(!has(bytes, len, "caf\xe9"));
	CHECK(has(bytes, len, "\xda\x40")); /* a text of 16384 bytes, 8192 characters */
	ced_answer_done(&answer);
	pair_done(&pair);
}

TEST(params_that_are_no_map_are_the_callers_mistake)
{
	struct ced_buffer list = { 0 };
	struct ced_buffer params = { 0 };
	struct ced_job job = { .code = "1" };
	struct ced_error error;

	job.more = json(&list, "[1]");
	CHECK_EQ_INT(ced_job_params(&job, &params, &error), -1);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	ced_buffer_done(&params);
	ced_buffer_done(&list);
}

TEST(a_job_has_the_params_of_the_protocol)
{
	static const char *const args[] = { "a", "b" };
	const struct ced_pair env[] = { { "NAME", "value" } };
	const struct ced_limit limits[] = { { "wall_ms", 2000 } };
	const struct ced_file files[] = { { .path = "a", .data = "bytes", .len = 5, .mode = 493 },
		{ .path = "b", .blob = "sha256:x" } };
	struct ced_buffer more = { 0 };
	const struct ced_job job = {
		.code = "1\0 2",
		.code_len = 4,
		.args = args,
		.arg_count = 2,
		.env = env,
		.env_count = 1,
		.stdin_bytes = "in",
		.stdin_len = 2,
		.files = files,
		.file_count = 2,
		.limits = limits,
		.limit_count = 1,
		.input_json = "[1]",
		.schema_json = "true",
		.policy = "strict",
		.id = "i",
		.run_id = RUN_ID,
		.agent = "g",
		.task = "t",
		.stream = true,
		.display = true,
		.detach = true,
		.more = json(&more, "{\"cache\": \"use\", \"labels\": {}}"),
	};
	struct ced_buffer buffer = { 0 };
	struct ced_value params;

	CHECK_EQ_INT(ced_job_params(&job, &buffer, NULL), 0);
	params = ced_buffer_value(&buffer);
	CHECK_EQ_INT(ced_count(params), 20);
	CHECK(ced_is(ced_get(params, "language"), "python"));
	CHECK(ced_is(ced_find(params, "/args/1"), "b"));
	CHECK(ced_is(ced_find(params, "/env/NAME"), "value"));
	CHECK_EQ_INT(ced_int(ced_find(params, "/limits/wall_ms"), 0), 2000);
	CHECK_EQ_INT(ced_int(ced_find(params, "/files/0/mode"), 0), 493);
	CHECK(ced_is(ced_find(params, "/files/1/blob"), "sha256:x"));
	CHECK_EQ_INT(ced_int(ced_find(params, "/input/0"), 0), 1);
	CHECK(ced_bool(ced_get(params, "announce"), false));
	CHECK(ced_is(ced_get(params, "cache"), "use"));
	ced_buffer_done(&buffer);
	ced_buffer_done(&more);
	CHECK_EQ_INT(ced_job_params(&(struct ced_job){ .session = RUN_ID }, &buffer, NULL), 0);
	CHECK_EQ_INT(ced_count(ced_buffer_value(&buffer)), 1);
	ced_buffer_done(&buffer);
}

TEST(sessions_contents_and_waiting_have_their_functions)
{
	char session[CED_ID_SIZE];
	char hash[CED_HASH_SIZE];
	struct ced_answer answer = { 0 };
	struct pair pair;

	pair_init(&pair);
	says(&pair, "[1, 0, null, {\"session\": \"" RUN_ID "\"}]");
	says(&pair, "[1, 1, null, {\"sha256\": \"sha256:abc\"}]");
	says(&pair, "[1, 2, null, {\"ok\": true}]");
	says(&pair, "[1, 3, null, {}]");
	says(&pair, "[1, 4, null, {\"cells\": 0}]");
	CHECK_EQ_INT(ced_session_open(pair.client, NULL, "{\"states\": 4}", session, NULL), 0);
	CHECK_STR(session, RUN_ID);
	CHECK_EQ_INT(ced_blob_put(pair.client, "content", 7, hash, NULL), 0);
	CHECK_STR(hash, "sha256:abc");
	CHECK_EQ_INT(ced_wait(pair.client, RUN_ID, NULL, &answer, NULL), 0);
	CHECK(ced_bool(ced_get(answer.result, "ok"), false));
	CHECK_EQ_INT(ced_cancel_run(pair.client, RUN_ID, NULL), 0);
	CHECK_EQ_INT(ced_session_close(pair.client, session, NULL), 0);
	ced_answer_done(&answer);
	pair_done(&pair);
}

/* ---- connecting ----------------------------------------------------------------------------- */

TEST(connecting_says_what_is_wrong)
{
	char path[200];
	struct ced_error error;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	CHECK(ced_connect("/tmp/ced-nobody-listens-here", 0, &error) == NULL);
	CHECK_EQ_INT(error.failure, CED_NO_DAEMON);
	CHECK_EQ_INT(error.sys_errno, ENOENT);
	CHECK(strstr(error.message, "/tmp/ced-nobody-listens-here"));
	CHECK(ced_connect(path, 0, &error) == NULL);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	CHECK(ced_connect("", 0, &error) == NULL);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	(void)setenv("CED_SOCKET", path, 1);
	CHECK(ced_connect(NULL, 0, &error) == NULL);
	CHECK_EQ_INT(error.failure, CED_WRONG_CALL);
	CHECK_EQ_INT(ced_socket_path(NULL, path, 3), -1);
	(void)unsetenv("CED_SOCKET");
	(void)setenv("XDG_RUNTIME_DIR", "/tmp/ced-nothing-here", 1);
	CHECK_EQ_INT(ced_socket_path(NULL, path, sizeof(path)), 0);
	CHECK_STR(path, "/run/ced/ced.sock");
	CHECK_EQ_INT(ced_socket_path("/asked", path, sizeof(path)), 0);
	CHECK_STR(path, "/asked");
	ced_close(NULL);
}

/* ---- without memory ------------------------------------------------------------------------- */

static int whole_life(struct pair *pair, struct ced_error *error)
{
	const struct ced_tool tool = { .name = "double", .call = double_it };
	const struct ced_job job = {
		.code = "1", .schema_json = "{\"a\": [\"\\n\"]}", .tools = &tool, .tool_count = 1
	};
	struct ced_answer answer = { 0 };
	int status = ced_run(pair->client, &job, NULL, &answer, error);

	if (status == 0 && !ced_bool(ced_get(answer.result, "ok"), false))
		status = -2;
	ced_answer_done(&answer);
	return status;
}

TEST(without_memory_a_call_fails_and_nothing_else)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct ced_error error = { 0 };
		struct pair pair;
		int fds[2];

		CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		pair.daemon = fds[1];
		pair.client = ced_attach(fds[0], &error);
		if (!pair.client) {
			CHECK(fault_hit());
			CHECK_EQ_INT(error.failure, CED_NO_MEMORY);
			close(fds[0]);
			close(fds[1]);
			continue;
		}
		CHECK(send(pair.daemon, "\x94\x01\x00\xc0\x81\xa2ok\xc3", 9, 0) == 9);
		if (whole_life(&pair, &error) < 0) {
			CHECK(fault_hit());
			CHECK(error.failure == CED_NO_MEMORY || error.failure == CED_WRONG_CALL);
		}
		pair_done(&pair);
	}
}
