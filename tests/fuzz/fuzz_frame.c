/*
 * A stream cut in two ways: all at once, and in pieces whose sizes the first bytes give.  Both
 * ways must produce the same messages and break at the same place.  A scan of each message alone
 * must agree with its length.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz.h"

#define MESSAGE_MAX ((size_t)60000)
#define SIZES       8 /* bytes at the front that define how the rest is cut */

/* The lengths of all messages, one after another, and a mark at the end when it broke. */
struct story {
	size_t lens[4096];
	size_t count;
	bool broken;
};

static void check_message(const char *bytes, size_t len)
{
	struct wire_scanner scanner;
	size_t whole = 0;

	wire_scanner_init(&scanner, MESSAGE_MAX, WIRE_DEPTH_DEFAULT);
	assert(wire_scan(&scanner, bytes, len, &whole, NULL) == 1);
	assert(whole == len);
}

static void take_all(struct frame *frame, struct story *story)
{
	char *bytes = NULL;
	size_t len = 0;
	int got;

	while ((got = frame_next(frame, &bytes, &len, NULL)) == 1) {
		check_message(bytes, len);
		bytes[len] = 0;
		free(bytes);
		if (story->count < 4096)
			story->lens[story->count++] = len;
	}
	story->broken = got < 0;
}

static void read_in_pieces(
	const uint8_t *sizes, const uint8_t *data, size_t len, struct story *story)
{
	struct frame frame;
	size_t at = 0;

	frame_init(&frame, MESSAGE_MAX, WIRE_DEPTH_DEFAULT);
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
	whole.count = 0;
	pieces.count = 0;
	whole.broken = false;
	pieces.broken = false;
	read_in_pieces(NULL, data + SIZES, len - SIZES, &whole);
	read_in_pieces(data, data + SIZES, len - SIZES, &pieces);
	assert(whole.count == pieces.count);
	assert(memcmp(whole.lens, pieces.lens, whole.count * sizeof(whole.lens[0])) == 0);
	assert(whole.broken == pieces.broken);
	return 0;
}
