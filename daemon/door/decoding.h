/*
 * A message that is whole, on its way from bytes to values: at once when it is small, else on a
 * thread, since a message of a million small values would hold the loop for half a second.
 *
 * While one is under way its connection waits with what stands behind it: each has no more than one
 * under way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/loop/errands.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/wire/rpc.h"

#define DECODE_AT_ONCE \
	((size_t)64 << 10) /* some 2 ms of values, when they are as small as can be */

/*
 * A message, read or refused.  Owns its bytes and its arena until somebody takes them.  One that was
 * refused on a thread has neither any more: `bytes` is NULL, and `fault` and `err` say what it was.
 */
struct decoded {
	char *bytes;
	size_t len;
	struct arena arena;
	struct rpc_message message;
	bool good;
	struct rpc_fault fault; /* when it is not */
	struct err err;
};

/* Takes `bytes`. */
struct decoded decoded_of(char *bytes, size_t len, size_t arena_bytes);
void decoded_read(struct decoded *decoded);
void decoded_done(struct decoded *decoded);

/*
 * Reads it on a thread, in its user's turn, then calls `done` from the loop with the same, which is
 * the callee's then; with NULL, and all given back, when errands have stopped.  -1: it cannot, and
 * nothing has changed.
 */
int decoding_start(struct errands *errands, uint32_t uid, const struct decoded *decoded,
	void (*done)(void *context, struct decoded *decoded), void *context);
