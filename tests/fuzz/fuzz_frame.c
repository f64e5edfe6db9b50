/*
 * A stream cut in two ways: all at once, and in pieces whose sizes the first bytes give.  Both
 * ways must produce the same messages and break at the same place.  A scan of each message alone
 * must agree with its length.
 *
 * One half of the inputs is read by an owner that refuses what is too big or too deep, and goes on.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz.h"

#define MESSAGE_MAX ((size_t)60000)
#define SMALL_MAX   ((size_t)100)
#define SIZES       8 /* bytes at the front that define how the rest is cut */

/* The lengths of all messages, one after another, 0 for a refused one, and whether it broke. */
struct story {
	size_t lens[4096];
	size_t count;
	bool broken;
	bool begun; /* the last message is not whole */
};

static void check_message(const struct frame *frame, const char *bytes, size_t len)
{
	struct wire_scanner scanner;
	size_t whole = 0;

	wire_scanner_init(&scanner, frame->message_max, WIRE_DEPTH_DEFAULT);
	assert(wire_scan(&scanner, bytes, len, &whole, NULL) == 1);
	assert(whole == len);
}

static void take_all(struct frame *frame, struct story *story)
{
	char *bytes = NULL;
	size_t len = 0;
	int got;

	while ((got = frame_next(frame, &bytes, &len, NULL)) > 0) {
		if (got == 1) {
			check_message(frame, bytes, len);
			bytes[len] = 0;
			free(bytes);
		} else {
			assert(got == FRAME_REFUSED && frame->goes_on && frame_has_begun(frame));
			len = 0;
		}
		if (story->count < 4096)
			story->lens[story->count++] = len;
	}
	story->broken = got < 0;
	story->begun = frame_has_begun(frame);
}

static void read_in_pieces(
	const uint8_t *sizes, const uint8_t *data, size_t len, bool goes_on, struct story *story)
{
	struct frame frame;
	size_t at = 0;

	frame_init(&frame, goes_on ? SMALL_MAX : MESSAGE_MAX, WIRE_DEPTH_DEFAULT);
	frame.goes_on = goes_on;
	for (size_t turn = 0; at < len; turn++) {
		size_t step = sizes ? 1 + (size_t)sizes[turn % SIZES] * sizes[turn % SIZES] : len;
		size_t room_len = 0;
		char *room;

		if (step > len - at)
			step = len - at;
		if (turn % 2) {
			assert(frame_push(&frame, data + at, step) == 0);
		} else {
			room = frame_room(&frame, &room_len);
			assert(room && room_len > 0);
			if (step > room_len)
				step = room_len;
			memcpy(room, data + at, step);
			frame_filled(&frame, step);
		}
		at += step;
		take_all(&frame, story);
	}
	frame_done(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct story whole;
	static struct story pieces;

	if (len < SIZES)
		return 0;
	memset(&whole, 0, sizeof(whole));
	memset(&pieces, 0, sizeof(pieces));
	read_in_pieces(NULL, data + SIZES, len - SIZES, data[0] % 2, &whole);
	read_in_pieces(data, data + SIZES, len - SIZES, data[0] % 2, &pieces);
	assert(whole.count == pieces.count);
	assert(memcmp(whole.lens, pieces.lens, whole.count * sizeof(whole.lens[0])) == 0);
	assert(whole.broken == pieces.broken);
	assert(whole.broken || whole.begun == pieces.begun);
	return 0;
}
