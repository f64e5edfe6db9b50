/*
 * Decodes a complete message from bytes to values.  Small messages are decoded at once.  Larger
 * ones are decoded on a thread, since a message of a million small values would block the loop for
 * half a second.
 *
 * A connection has at most one message on a thread.  Messages behind it wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/loop/thread_work.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/wire/rpc.h"

#define DECODE_AT_ONCE \
	((size_t)64 << 10) /* about 2 ms of decoding when the values are as small as possible */

/*
 * A decoded or rejected message.  It owns its bytes and its arena until the caller takes them over.
 * A message that was rejected on a thread has neither: `bytes` is NULL, and `fault` and `err`
 * describe the error.
 */
struct decoded {
	char *bytes;
	size_t len;
	struct arena arena;
	struct rpc_message message;
	bool good;
	struct rpc_fault fault; /* when `good` is false */
	struct err err;
};

/* Takes over `bytes`. */
struct decoded decoded_of(char *bytes, size_t len, size_t arena_bytes);
void decoded_read(struct decoded *decoded);
void decoded_done(struct decoded *decoded);

/*
 * Decodes the message on a thread, in the queue of its user, then calls `done` from the loop.  The
 * callee owns the decoded message.  When thread work has stopped, everything is freed and `done`
 * gets NULL.  Returns -1 when it cannot start; nothing has changed then.
 */
int decoding_start(struct thread_work *work, uint32_t uid, const struct decoded *decoded,
	void (*done)(void *context, struct decoded *decoded), void *context);
