/*
 * Cuts a stream of bytes into whole msgpack messages.
 *
 * Lives inside a connection: frame_init() to frame_done().  Bytes go in with frame_room() and
 * frame_filled(), straight from read(2), or with frame_push(); messages come out with
 * frame_next() until it says 0.  All work together is linear in the bytes that arrived, however
 * they were cut, and the memory held is at most about twice the bytes that are waiting: nothing
 * is reserved because a message says how long it will be.
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
};

void frame_init(struct frame *frame, size_t message_max, unsigned depth_max);

/* Frees what is waiting.  May be called twice. */
void frame_done(struct frame *frame);

/*
 * Room for the next bytes, at least 1, usually some kilobytes; valid until the next call.  The
 * caller writes there and says with frame_filled() how much.  NULL: no memory.
 */
char *frame_room(struct frame *frame, size_t *ret_size);
void frame_filled(struct frame *frame, size_t len);

/* Copies bytes in.  -1: no memory. */
int frame_push(struct frame *frame, const void *bytes, size_t len);

/*
 * Gives the next whole message: malloc'ed, with one spare byte behind it as
 * wire_decode_in_place() wants it.  Returns 1; 0 when more bytes must come; -1 when the stream is
 * broken for good (ERR_TOO_BIG, ERR_INVALID) or memory is short (ERR_MEMORY).
 */
int frame_next(struct frame *frame, char **ret_bytes, size_t *ret_len, struct err *err);

/* What has arrived of a message that is not whole; 0 bytes between messages.  Until the next call. */
const char *frame_partial(const struct frame *frame, size_t *ret_len);
