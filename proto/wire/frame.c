#include "proto/wire/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES      ((size_t)16 << 10) /* the least room before a read */
/* a message of this size may be returned without a copy */
#define HAND_OVER_BYTES ((size_t)8 << 10)
#define KEPT_BYTES_MAX  ((size_t)64 << 10) /* an empty buffer larger than this is freed */
#define SPARE_BYTES     ((size_t)1)

void frame_init(struct frame *frame, size_t message_max, unsigned depth_max)
{
	*frame = (struct frame){ .message_max = message_max, .depth_max = depth_max };
	buf_init(&frame->in, SIZE_MAX / 2);
	wire_scanner_init(&frame->scanner, message_max, depth_max);
}

void frame_done(struct frame *frame)
{
	buf_done(&frame->in);
	frame->at = 0;
}

/* ---- bytes in ----------------------------------------------------------------------------- */

/*
 * Removes the messages that frame_next() has returned.  The waiting bytes after them move only when
 * they are fewer than the removed ones, or when the buffer must grow and move anyway.
 */
static void compact(struct frame *frame, size_t need)
{
	size_t waiting = frame->in.len - frame->at;

	if (frame->at < waiting && need <= frame->in.size - frame->in.len)
		return;
	buf_consume(&frame->in, frame->at);
	frame->at = 0;
	if (waiting == 0 && frame->in.size > KEPT_BYTES_MAX)
		buf_done(&frame->in);
}

static int make_room(struct frame *frame, size_t len)
{
	compact(frame, len + SPARE_BYTES);
	return buf_reserve(&frame->in, len + SPARE_BYTES);
}

char *frame_room(struct frame *frame, size_t *ret_size)
{
	if (make_room(frame, ROOM_BYTES) < 0)
		return NULL;
	*ret_size = frame->in.size - frame->in.len - SPARE_BYTES;
	return frame->in.bytes + frame->in.len;
}

void frame_filled(struct frame *frame, size_t len)
{
	assert(len <= frame->in.size - frame->in.len);
	frame->in.len += len;
}

int frame_push(struct frame *frame, const void *bytes, size_t len)
{
	if (make_room(frame, len) < 0)
		return -1;
	return buf_append(&frame->in, bytes, len);
}

/* ---- messages out ------------------------------------------------------------------------- */

/* Returns a copy of the message and keeps the buffer. */
static char *copy_out(struct frame *frame, size_t len)
{
	char *message = malloc(len + SPARE_BYTES);

	if (!message)
		return NULL;
	memcpy(message, frame->in.bytes + frame->at, len);
	frame->at += len;
	return message;
}

/*
 * Returns the buffer itself, which begins with the message.  The bytes after the message move to a
 * new buffer.
 */
static char *hand_over(struct frame *frame, size_t len)
{
	struct buf rest;
	size_t rest_len = frame->in.len - len;
	size_t whole_len;
	char *message;

	buf_init(&rest, frame->in.ceiling);
	if (rest_len > 0 && buf_reserve(&rest, rest_len + SPARE_BYTES) < 0)
		return NULL;
	/* cannot fail: the room is reserved */
	(void)buf_append(&rest, frame->in.bytes + len, rest_len);
	message = buf_take(&frame->in, &whole_len);
	frame->in = rest;
	return message;
}

/* Copies the smaller part: the message, or the bytes that have arrived after it. */
static char *take_message(struct frame *frame, size_t len)
{
	size_t rest_len = frame->in.len - frame->at - len;

	if (frame->at == 0 && len >= HAND_OVER_BYTES && rest_len <= len)
		return hand_over(frame, len);
	return copy_out(frame, len);
}

static int scan(struct frame *frame, size_t *ret_len, struct err *err)
{
	size_t waiting = frame->in.len - frame->at;
	int scanned = 0;

	if (waiting > 0)
		scanned = wire_scan(
			&frame->scanner, frame->in.bytes + frame->at, waiting, ret_len, err);
	frame->broken = scanned < 0;
	return scanned;
}

static void begin_next(struct frame *frame)
{
	wire_scanner_init(&frame->scanner, frame->message_max, frame->depth_max);
	frame->drops = false;
	frame->ended++;
}

/* Drops what has arrived of a refused message.  Returns 1 after its last byte, 0, or -1. */
static int drop(struct frame *frame, struct err *err)
{
	size_t len = 0;
	int scanned = scan(frame, &len, err);

	if (scanned == 0) {
		len = frame->in.len - frame->at;
		if (len > frame->scanner.at)
			len = frame->scanner.at; /* the next head is not whole */
		frame->scanner.at -= len;
	}
	frame->at += len;
	if (scanned > 0)
		begin_next(frame);
	return scanned;
}

static int refuse(struct frame *frame)
{
	frame->broken = false;
	frame->drops = true;
	frame->scanner.skips = true;
	return FRAME_REFUSED;
}

int frame_next(struct frame *frame, char **ret_bytes, size_t *ret_len, struct err *err)
{
	size_t len = 0;
	char *message;
	int scanned = 1;

	if (frame->broken)
		return err_set(err, ERR_INVALID, "the stream was broken before");
	if (frame->drops)
		scanned = drop(frame, err);
	if (scanned > 0)
		scanned = scan(frame, &len, err);
	if (scanned < 0 && frame->goes_on && wire_scan_may_skip(&frame->scanner))
		return refuse(frame);
	if (scanned <= 0)
		return scanned;

	message = take_message(frame, len);
	if (!message)
		return err_set(err, ERR_MEMORY, "no memory for a message of %zu bytes", len);
	begin_next(frame);
	*ret_bytes = message;
	*ret_len = len;
	return 1;
}

bool frame_has_begun(const struct frame *frame)
{
	return frame->drops || frame->in.len > frame->at;
}

const char *frame_partial(const struct frame *frame, size_t *ret_len)
{
	*ret_len = frame->in.len - frame->at;
	return *ret_len > 0 ? frame->in.bytes + frame->at : "";
}
