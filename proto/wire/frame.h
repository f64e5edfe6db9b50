/*
 * Splits a stream of bytes into whole msgpack messages.
 *
 * The owner, a connection, calls frame_init() first and frame_done() last.  It adds bytes with
 * frame_room() and frame_filled(), straight from read(2), or with frame_push().  It takes messages
 * with frame_next() until that returns 0.
 *
 * The total work is linear in the number of bytes, however the stream splits them.  The memory held
 * is at most about twice the waiting bytes.  A length that a message declares never reserves
 * memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/wire/wire.h"

struct frame {
	struct buf in;
	size_t at; /* where the current message begins in `in` */
	struct wire_scanner scanner;
	size_t message_max;
	unsigned depth_max;
	bool broken;
	size_t ended; /* how many messages have been returned or dropped */
	bool goes_on; /* of the owner: after a message that is too big or too deep, too */
	bool drops;   /* the current message was refused; its bytes are dropped as they come */
};

void frame_init(struct frame *frame, size_t message_max, unsigned depth_max);

/* Frees the waiting bytes.  A second call is harmless. */
void frame_done(struct frame *frame);

/*
 * Returns room for the next bytes: at least 1, usually some kilobytes.  It is valid until the next
 * call.  The caller writes there and then passes the number of bytes to frame_filled().  NULL: no
 * memory.
 */
char *frame_room(struct frame *frame, size_t *ret_size);
void frame_filled(struct frame *frame, size_t len);

/* Appends a copy of the bytes.  -1: no memory. */
int frame_push(struct frame *frame, const void *bytes, size_t len);

/*
 * Gets the next whole message.  It is malloc'ed and has one spare byte at its end, which
 * wire_decode_in_place() needs.  Returns 1, or 0 when the message is still incomplete.  Returns -1
 * when the stream is broken permanently (ERR_TOO_BIG, ERR_INVALID) or memory is short (ERR_MEMORY).
 *
 * FRAME_REFUSED, only if the owner goes on: the message that has begun is too big (ERR_TOO_BIG) or
 * nests too deep (ERR_INVALID).  frame_partial() has its first bytes until the next call, which
 * drops them and what follows of it.
 */
#define FRAME_REFUSED 2
int frame_next(struct frame *frame, char **ret_bytes, size_t *ret_len, struct err *err);

/* Whether a message has begun and is not complete. */
bool frame_has_begun(const struct frame *frame);

/*
 * Returns the bytes of an incomplete message; 0 bytes between messages.  Valid until the next call.
 */
const char *frame_partial(const struct frame *frame, size_t *ret_len);
