/*
 * Any bytes as one envelope.  An accepted envelope can be written again and reads the same.  A
 * refused one has a reason.  An id that can be peeked at is the request's id.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/rpc.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES_MAX ((size_t)16 << 20)

static void write_again(struct buf *buf, const struct rpc_message *message)
{
	struct rpc_error error = rpc_error_from_value(message->error);

	switch (message->kind) {
	case RPC_REQUEST:
		assert(rpc_write_request(
			       buf, message->msgid, message->method, message->params, NULL) == 0);
		break;
	case RPC_NOTIFICATION:
		assert(rpc_write_notification(buf, message->method, message->params, NULL) == 0);
		break;
	case RPC_RESPONSE:
		if (message->error)
			assert(rpc_write_error(buf, message->msgid, &error, NULL) == 0);
		else
			assert(rpc_write_result(buf, message->msgid, message->result, NULL) == 0);
		break;
	}
}

static void check_round_trip(struct arena *arena, const struct rpc_message *message)
{
	struct rpc_message again;
	struct rpc_fault fault;
	struct err err = ERR_INIT;
	struct buf buf;

	buf_init(&buf, ARENA_BYTES_MAX);
	write_again(&buf, message);
	assert(buf_reserve(&buf, 1) == 0);
	if (rpc_read(arena, buf.bytes, buf.len, &again, &fault, &err) < 0) {
		assert(err.code == ERR_MEMORY);
	} else {
		assert(again.kind == message->kind && again.msgid == message->msgid);
		assert(!message->method || strcmp(message->method, again.method) == 0);
		assert(value_equal(message->params, again.params));
		assert(!message->error == !again.error);
		assert(message->error || value_equal(message->result, again.result));
	}
	buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena arena;
	struct rpc_message message;
	struct rpc_fault fault;
	struct err err = ERR_INIT;
	char *bytes = malloc(len + 1);
	uint32_t peeked = 0;
	bool has_peeked;
	bool is_notification;

	assert(bytes);
	if (len > 0)
		memcpy(bytes, data, len);
	has_peeked = rpc_peek_msgid(bytes, len, &peeked);
	is_notification = rpc_peek_notification(bytes, len);
	arena_init(&arena, ARENA_BYTES_MAX);
	if (rpc_read(&arena, bytes, len, &message, &fault, &err) == 0) {
		assert(has_peeked == (message.kind == RPC_REQUEST));
		assert(!has_peeked || peeked == message.msgid);
		check_round_trip(&arena, &message);
	} else {
		assert(fault.reason && err.code != ERR_NONE);
		assert(fault.has_msgid == has_peeked);
		assert(!has_peeked || fault.msgid == peeked);
		assert(fault.is_notification == is_notification);
	}
	arena_done(&arena);
	free(bytes);
	return 0;
}
