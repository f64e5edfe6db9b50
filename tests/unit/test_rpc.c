#include <string.h>

#include "proto/wire/rpc.h"
#include "proto/wire/wire.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

AUTO_DEFINE(struct buf, buf_done);

#define MEGABYTE ((size_t)1 << 20)

#define WITH_BUF(name)                                       \
	struct buf name##_itself;                            \
	auto_of(buf_done) struct buf *name = &name##_itself; \
	buf_init(name, 64 * MEGABYTE)

static int read_bytes(struct arena *arena, const char *bytes, size_t len,
	struct rpc_message *ret_message, struct rpc_fault *ret_fault, struct err *err)
{
	return rpc_read(arena, arena_copy(arena, bytes, len), len, ret_message, ret_fault, err);
}

TEST(a_request_is_read)
{
	WITH_ARENA(arena);
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;

	CHECK(read_bytes(arena, "\x94\x00\x2a\xa3run\x91\x81\xa1k\x07", 12, &message, &fault,
		      &err) == 0);
	CHECK_EQ_INT(message.kind, RPC_REQUEST);
	CHECK_EQ_INT(message.msgid, 42);
	CHECK_STR(message.method, "run");
	CHECK_EQ_INT(value_as_int(value_get(message.params, "k"), 0), 7);
}

TEST(a_request_without_params_has_an_empty_map)
{
	WITH_ARENA(arena);
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;

	CHECK(read_bytes(arena, "\x94\x00\xce\xff\xff\xff\xff\xa5hello\x90", 14, &message, &fault,
		      &err) == 0);
	CHECK_EQ_INT(message.msgid, UINT32_MAX);
	CHECK(value_is(message.params, VALUE_MAP) && message.params->map.count == 0);
}

TEST(responses_and_notifications_are_read)
{
	WITH_ARENA(arena);
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;

	CHECK(read_bytes(arena, "\x94\x01\x05\xc0\xa2hi", 7, &message, &fault, &err) == 0);
	CHECK(message.kind == RPC_RESPONSE && message.msgid == 5 && !message.error);
	CHECK_STR(value_as_text(message.result), "hi");
	CHECK(read_bytes(arena, "\x94\x01\x05\x80\xc0", 5, &message, &fault, &err) == 0);
	CHECK(value_is(message.error, VALUE_MAP) && value_is(message.result, VALUE_NIL));
	CHECK(read_bytes(arena,
		      "\x93\x02\xa5"
		      "event\x91\x80",
		      10, &message, &fault, &err) == 0);
	CHECK(message.kind == RPC_NOTIFICATION);
	CHECK_STR(message.method, "event");
}

#define LONG_METHOD "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" /* 65 */

static const struct {
	const char *bytes;
	size_t len;
	const char *reason;
	int msgid; /* -1: cannot be answered */
} broken[] = {
	{ "\xc0", 1, "type", -1 },
	{ "\x90", 1, "type", -1 },
	{ "\x80", 1, "type", -1 },
	{ "\x94\x03\x01\xa1m\x90", 6, "type", -1 },
	{ "\x94\xff\x01\xa1m\x90", 6, "type", -1 },
	{ "\x94\xa0\x01\xa1m\x90", 6, "type", -1 },
	{ "\x94\x00\xff\xa1m\x90", 6, "range", -1 },
	{ "\x94\x00\xcf\0\0\0\1\0\0\0\0\xa1m\x90", 14, "range", -1 },
	{ "\x94\x00\xa1x\xa1m\x90", 7, "type", -1 },
	{ "\x91\x00", 2, "type", -1 },
	{ "\x92\x00\x07", 3, "type", 7 },
	{ "\x93\x00\x07\xa1m", 5, "type", 7 },
	{ "\x95\x00\x07\xa1m\x90\xc0", 7, "syntax", 7 },
	{ "\x94\x00\x07\x07\x90", 5, "type", 7 },
	{ "\x94\x00\x07\xc4\x01m\x90", 7, "type", 7 },
	{ "\x94\x00\x07\xa2m\0\x90", 7, "nul", 7 },
	{ "\x94\x00\x07\xd9\x41" LONG_METHOD "\x90", 71, "too_long", 7 },
	{ "\x94\x00\x07\xa1m\xc0", 6, "type", 7 },
	{ "\x94\x00\x07\xa1m\x80", 6, "type", 7 },
	{ "\x94\x00\x07\xa1m\x91\xc0", 7, "type", 7 },
	{ "\x94\x00\x07\xa1m\x92\x80\x80", 8, "type", 7 },
	{ "\x94\x00\x07\xa1m\x91\x82\xa1k\xc0\xa1k\xc0", 13, "duplicate", 7 },
	{ "\x94\x00\x07\xa1\xff\x90", 6, "utf8", 7 },
	{ "\x94\x00\x07\xa1m\x91\xd4\x01\x01", 9, "type", 7 },
	{ "\x94\x00\x07\xa1m\x91\xca\x7f\x80\0\0", 11, "range", 7 },
	{ "\x94\x00\x07\xa1m", 5, "syntax", 7 },
	{ "\x94\x01\x07\xa1\xff\xc0", 6, "utf8", -1 },
	{ "\x92\x01\x07", 3, "syntax", -1 },
	{ "\x92\x02\xa1m", 4, "type", -1 },
	{ "\x94\x02\xa1m\x90\xc0", 6, "syntax", -1 },
};

TEST(broken_envelopes_are_refused_and_answered_where_an_id_was_read)
{
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		WITH_ARENA(arena);
		struct rpc_message message = { 0 };
		struct rpc_fault fault;
		struct err err = ERR_INIT;

		CHECK_EQ_INT(
			read_bytes(arena, broken[i].bytes, broken[i].len, &message, &fault, &err),
			-1);
		if (strcmp(fault.reason, broken[i].reason) != 0)
			CHECK_EQ_INT(i, -1);
		CHECK_EQ_INT(fault.has_msgid ? (int)fault.msgid : -1, broken[i].msgid);
		CHECK(!fault.is_notification);
		CHECK(err.code == ERR_INVALID && *err.text && !message.method);
	}
}

TEST(an_id_can_be_read_from_the_front_of_a_message_that_never_ends)
{
	uint32_t msgid = 0;

	CHECK(rpc_peek_msgid("\x94\x00\xcd\x01\x00\xa3", 6, &msgid));
	CHECK_EQ_INT(msgid, 256);
	CHECK(rpc_peek_msgid("\xdd\x00\x00\x00\x04\xcc\x00\x09", 8, &msgid));
	CHECK_EQ_INT(msgid, 9);
	CHECK(rpc_peek_msgid("\x94\xd0\x00\xd1\x00\x09", 6, &msgid));
	CHECK_EQ_INT(msgid, 9);
	CHECK(!rpc_peek_msgid("\x94\x00\xcd\x01", 4, &msgid));
	CHECK(!rpc_peek_msgid("\x94\x00", 2, &msgid));
	CHECK(!rpc_peek_msgid("\x94", 1, &msgid));
	CHECK(!rpc_peek_msgid("", 0, &msgid));
	CHECK(!rpc_peek_msgid("\x94\x02\x01", 3, &msgid));
	CHECK(!rpc_peek_msgid("\x91\x00\x01", 3, &msgid));
	CHECK(!rpc_peek_msgid("\x94\x00\xff", 3, &msgid));
	CHECK(!rpc_peek_msgid("\x82\x00\x01", 3, &msgid));
	CHECK_EQ_INT(msgid, 9);
}

TEST(a_notification_is_known_by_the_front_of_its_bytes)
{
	CHECK(rpc_peek_notification("\x93\x02", 2));
	CHECK(rpc_peek_notification("\x93\x02\xc1", 3));
	CHECK(rpc_peek_notification("\xdc\x00\x03\xcd\x00\x02", 6));
	CHECK(!rpc_peek_notification("", 0));
	CHECK(!rpc_peek_notification("\x93", 1));
	CHECK(!rpc_peek_notification("\x93\x00", 2));
	CHECK(!rpc_peek_notification("\x94\x02", 2));
	CHECK(!rpc_peek_notification("\xa3\x02", 2));
}

TEST(what_is_written_is_read_again)
{
	WITH_ARENA(arena);
	WITH_BUF(buf);
	struct value *params = value_map(arena);
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;

	(void)value_map_put(arena, params, "code", value_text(arena, "print(1)"));
	CHECK(rpc_write_request(buf, 70000, "run", params, &err) == 0);
	CHECK(read_bytes(arena, buf->bytes, buf->len, &message, &fault, &err) == 0);
	CHECK(message.kind == RPC_REQUEST && message.msgid == 70000);
	CHECK_STR(message.method, "run");
	CHECK(value_equal(message.params, params));

	buf->len = 0;
	CHECK(rpc_write_notification(buf, "run.output", NULL, &err) == 0);
	CHECK(read_bytes(arena, buf->bytes, buf->len, &message, &fault, &err) == 0);
	CHECK(message.kind == RPC_NOTIFICATION && message.params->map.count == 0);

	buf->len = 0;
	CHECK(rpc_write_result(buf, 3, params, &err) == 0);
	CHECK(read_bytes(arena, buf->bytes, buf->len, &message, &fault, &err) == 0);
	CHECK(message.kind == RPC_RESPONSE && !message.error && message.msgid == 3);
	CHECK(value_equal(message.result, params));
}

TEST(errors_are_written_with_and_without_data)
{
	WITH_ARENA(arena);
	struct value *data = value_map(arena);
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;

	(void)value_map_put(arena, data, "retry_after_ms", value_int(arena, 50));
	for (int with = 0; with < 2; with++) {
		WITH_BUF(buf);
		struct rpc_error error = { RPC_CODE_BUSY, "queue is full", with ? data : NULL };
		struct rpc_error got;

		CHECK(rpc_write_error(buf, 3, &error, &err) == 0);
		CHECK(read_bytes(arena, buf->bytes, buf->len, &message, &fault, &err) == 0);
		CHECK(message.error && value_is(message.result, VALUE_NIL));
		got = rpc_error_from_value(message.error);
		CHECK_EQ_INT(got.code, RPC_CODE_BUSY);
		CHECK_STR(got.message, "queue is full");
		CHECK((got.data != NULL) == (with == 1));
		CHECK(!with || value_equal(got.data, data));
	}
}

TEST(an_error_of_another_shape_is_internal)
{
	WITH_ARENA(arena);
	struct value *map = value_map(arena);

	CHECK_EQ_INT(rpc_error_from_value(NULL).code, RPC_CODE_INTERNAL);
	CHECK_EQ_INT(rpc_error_from_value(value_text(arena, "no")).code, RPC_CODE_INTERNAL);
	(void)value_map_put(arena, map, "code", value_text(arena, "from_the_future"));
	(void)value_map_put(arena, map, "data", value_text(arena, "not a map"));
	CHECK_EQ_INT(rpc_error_from_value(map).code, RPC_CODE_INTERNAL);
	CHECK(!rpc_error_from_value(map).data);
	CHECK(*rpc_error_from_value(map).message);
}

TEST(codes_and_words_go_both_ways)
{
	for (unsigned code = 0; code < RPC_CODE_COUNT; code++)
		CHECK_EQ_INT(rpc_code_from_word(rpc_code_word((enum rpc_code)code)), code);
	CHECK_STR(rpc_code_word(RPC_CODE_NOT_FOUND), "not_found");
	CHECK_STR(rpc_code_word(RPC_CODE_COUNT), "internal");
	CHECK_EQ_INT(rpc_code_from_word("nonsense"), RPC_CODE_COUNT);
}

static int write_any(struct buf *buf, int which, const struct value *value, struct err *err)
{
	struct rpc_error error = { RPC_CODE_CONFLICT, "message", value };

	if (which == 0)
		return rpc_write_request(buf, 1, "method", value, err);
	if (which == 1)
		return rpc_write_result(buf, 1, value, err);
	if (which == 2)
		return rpc_write_error(buf, 1, &error, err);
	return rpc_write_notification(buf, "method", value, err);
}

TEST(a_message_that_does_not_fit_is_not_begun)
{
	WITH_ARENA(arena);
	struct value *map = value_map(arena);

	(void)value_map_put(arena, map, "key", value_text(arena, "some value"));
	for (int which = 0; which < 4; which++) {
		bool fitted = false;

		for (size_t ceiling = 4; ceiling < 100; ceiling++) {
			struct buf buf;
			auto_of(buf_done) struct buf *held = &buf;
			struct err err = ERR_INIT;

			buf_init(held, ceiling);
			CHECK(buf_append_text(&buf, "kept") == 0);
			if (write_any(&buf, which, map, &err) == 0) {
				fitted = true;
				continue;
			}
			CHECK(!fitted && buf.len == 4 && err.code == ERR_TOO_BIG);
		}
		CHECK(fitted);
	}
}

TEST(writing_without_memory_appends_nothing)
{
	static const char content[2000];
	WITH_ARENA(arena);
	struct value *map = value_map(arena);

	(void)value_map_put(arena, map, "key", value_bytes(arena, content, sizeof(content)));
	for (int which = 0; which < 4; which++) {
		FAULT_LOOP(FAULT_ALLOC) {
			WITH_BUF(buf);
			struct err err = ERR_INIT;

			CHECK(write_any(buf, which, map, &err) == 0 ||
				(fault_hit() && buf->len == 0 && err.code != ERR_NONE));
		}
	}
}
