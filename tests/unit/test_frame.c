#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/clock.h"
#include "proto/wire/frame.h"
#include "proto/wire/wire_head.h"
#include "tests/check.h"
#include "tests/fault.h"

AUTO_DEFINE(struct frame, frame_done);
AUTO_DEFINE(struct buf, buf_done);

#define MEGABYTE ((size_t)1 << 20)

#define WITH_FRAME(name, size_max)                               \
	struct frame name##_itself;                              \
	auto_of(frame_done) struct frame *name = &name##_itself; \
	frame_init(name, (size_max), WIRE_DEPTH_DEFAULT)

#define WITH_BUF(name)                                       \
	struct buf name##_itself;                            \
	auto_of(buf_done) struct buf *name = &name##_itself; \
	buf_init(name, 64 * MEGABYTE)

/* Appends a message [number, text of `len` bytes]. */
static void put_message(struct buf *buf, unsigned number, size_t len)
{
	char head[5] = { '\xdb', (char)(len >> 24), (char)(len >> 16), (char)(len >> 8),
		(char)len };

	(void)wire_put_list(buf, 2);
	(void)wire_put_uint(buf, number);
	(void)buf_append(buf, head, sizeof(head));
	if (buf_reserve(buf, len) == 0)
		memset(buf->bytes + buf->len, 'a' + (int)(number % 26), len);
	buf->len += len;
}

/* Returns whether these bytes are what put_message() wrote for `number`. */
static bool is_message(const char *bytes, size_t len, unsigned number)
{
	struct wire_head head;
	size_t at = 1;
	bool good = len > 1 && bytes[0] == '\x92';

	good = good && wire_head_read(bytes + at, len - at, &head) && head.number == number;
	at += good ? head.len : 0;
	good = good && wire_head_read(bytes + at, len - at, &head) && head.form == WIRE_STR;
	at += good ? head.len : 0;
	good = good && at + head.number == len;
	for (; good && at < len; at++)
		good = bytes[at] == (char)('a' + number % 26);
	return good;
}

/* Takes all complete messages and checks that they are the next ones of put_message(). */
static unsigned take_all(struct frame *frame, unsigned number)
{
	for (;; number++) {
		auto_free char *bytes = NULL;
		size_t len = 0;

		if (frame_next(frame, &bytes, &len, NULL) != 1)
			return number;
		if (!is_message(bytes, len, number))
			return UINT32_MAX;
		bytes[len] = 'x'; /* the spare byte belongs to us */
	}
}

/* Feeds the same stream in pieces of `step` bytes. */
static unsigned feed(const struct buf *stream, size_t step, size_t size_max)
{
	WITH_FRAME(frame, size_max);
	unsigned number = 0;

	for (size_t at = 0; at < stream->len; at += step) {
		size_t len = stream->len - at < step ? stream->len - at : step;

		if (frame_push(frame, stream->bytes + at, len) < 0)
			return UINT32_MAX;
		number = take_all(frame, number);
		if (number == UINT32_MAX)
			break;
	}
	return number;
}

TEST(messages_come_out_the_same_however_the_stream_was_cut)
{
	static const size_t lens[] = { 0, 1, 5, 31, 300, 5000, 9000, 70000, 3, 20000, 8187, 16384 };
	static const size_t steps[] = { 1, 2, 3, 7, 64, 1000, 4096, 16384, 70000, 1 << 30 };
	WITH_BUF(stream);
	unsigned count = 0;

	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < 12; i++)
			put_message(stream, count++, lens[(i * 5 + (size_t)round) % 12]);
	for (size_t i = 0; i < 10; i++)
		CHECK_EQ_INT(feed(stream, steps[i], MEGABYTE), count);
}

TEST(bytes_can_be_read_straight_into_a_frame)
{
	WITH_FRAME(frame, MEGABYTE);
	WITH_BUF(stream);
	unsigned number = 0;
	size_t at = 0;

	for (unsigned i = 0; i < 50; i++)
		put_message(stream, i, i * 777);
	while (at < stream->len) {
		size_t size = 0;
		char *room = frame_room(frame, &size);

		CHECK(room && size > 0);
		if (size > stream->len - at)
			size = stream->len - at;
		memcpy(room, stream->bytes + at, size);
		frame_filled(frame, size);
		at += size;
		number = take_all(frame, number);
	}
	CHECK_EQ_INT(number, 50);
}

TEST(a_message_in_the_middle_of_arriving_can_be_looked_at)
{
	WITH_FRAME(frame, MEGABYTE);
	char *bytes = NULL;
	size_t len = 9;
	struct err err = ERR_INIT;

	(void)frame_partial(frame, &len);
	CHECK_EQ_INT(len, 0);
	CHECK(frame_push(frame, "\xc0\x94\x00\x07", 4) == 0);
	CHECK(frame_next(frame, &bytes, &len, &err) == 1);
	CHECK_EQ_INT(len, 1);
	free(bytes);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), 0);
	CHECK(memcmp(frame_partial(frame, &len), "\x94\x00\x07", 3) == 0);
	CHECK_EQ_INT(len, 3);
}

TEST(a_message_past_the_ceiling_is_refused_before_it_arrives)
{
	WITH_FRAME(frame, 1000);
	char *bytes = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK(frame_push(frame, "\x94\x00\x2a\xa3run\xdb\x00\x00\x10\x00", 12) == 0);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK(memcmp(frame_partial(frame, &len), "\x94\x00\x2a", 3) == 0);
}

TEST(a_broken_stream_stays_broken)
{
	WITH_FRAME(frame, 1000);
	char *bytes = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK(frame_push(frame, "\xc1", 1) == 0);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), -1);
	CHECK(frame_push(frame, "\xc0\xc0", 2) == 0);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), -1);
	CHECK(!bytes);
}

TEST(messages_before_a_broken_one_still_come_out)
{
	WITH_FRAME(frame, 1000);
	auto_free char *bytes = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK(frame_push(frame, "\xc0\xc1", 2) == 0);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), 1);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), -1);
}

/*
 * Feeds `piece` bytes at a time.  Returns what came out, a letter each: R for a refused message, its
 * length for one that is whole, x for a broken stream.
 */
static const char *fed(const char *bytes, size_t len, size_t piece)
{
	static char told[32];
	WITH_FRAME(frame, 8);
	size_t count = 0;
	int got = 0;

	frame->goes_on = true;
	for (size_t at = 0; at < len && got >= 0; at += piece) {
		if (frame_push(frame, bytes + at, len - at < piece ? len - at : piece) < 0)
			return "no memory";
		do {
			char *message = NULL;
			size_t message_len = 0;
			struct err err = ERR_INIT;

			got = frame_next(frame, &message, &message_len, &err);
			if (got != 0 && count < sizeof(told) - 1)
				told[count++] = got == FRAME_REFUSED ? 'R'
						: got < 0            ? 'x'
								     : (char)('0' + message_len);
			free(message);
		} while (got > 0);
	}
	if (frame_has_begun(frame) && count < sizeof(told) - 1)
		told[count++] = '.';
	told[count] = '\0';
	return told;
}

TEST(a_message_that_is_refused_is_dropped_and_those_behind_it_come_out)
{
	/* 5 bytes; 12, which are too many; 1; 40 levels, which are too deep, in 41; 1 */
	char bytes[64] = "\x92\x01\x92\x02\x03\xc4\x0a\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc1\xc0";
	const size_t len = 18 + 41 + 1;

	memset(bytes + 18, '\x91', 40);
	memcpy(bytes + 18 + 40, "\xc0\xc0", 2);
	for (size_t piece = 1; piece <= len; piece++)
		CHECK_STR(fed(bytes, len, piece), "5R1R1");
	CHECK_STR(fed(bytes, len - 2, 7), "5R1R.");
	CHECK_STR(fed("\xc4\x0a\xc1", 3, 3), "R.");
	CHECK_STR(fed("\xdc\x00\x0a\xc1", 4, 1), "Rx.");    /* broken while it is dropped */
	CHECK_STR(fed("\xc6\x7f\xff\xff\xff", 5, 5), "x."); /* no end is looked for */
}

TEST(a_declared_length_reserves_nothing)
{
	WITH_FRAME(frame, (size_t)1 << 30);
	char *bytes = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK(frame_push(frame, "\xdb\x30\x00\x00\x00", 5) == 0);
	CHECK_EQ_INT(frame_next(frame, &bytes, &len, &err), 0);
	CHECK(frame->in.size < 100000);
}

TEST(a_frame_does_not_keep_large_memory_for_small_messages)
{
	WITH_FRAME(frame, 16 * MEGABYTE);
	WITH_BUF(stream);
	size_t size = 0;

	put_message(stream, 0, 10);
	put_message(stream, 1, 8 * MEGABYTE);
	CHECK(frame_push(frame, stream->bytes, stream->len) == 0);
	CHECK_EQ_INT(take_all(frame, 0), 2);
	CHECK(frame_room(frame, &size));
	CHECK(frame->in.size < 100000);
}

/* This would take many minutes if each drip scanned or moved the message from its start. */
TEST(slow_drips_cost_no_more_than_their_bytes)
{
	WITH_FRAME(frame, 64 * MEGABYTE);
	WITH_BUF(stream);
	int64_t before_us;
	unsigned number = 0;
	struct err err = ERR_INIT;

	put_message(stream, 0, 3);
	(void)wire_put_list(stream, 1000000);
	for (int i = 0; i < 1000000; i++)
		(void)wire_put_uint(stream, (unsigned)i);
	before_us = clock_us_of(CLOCK_PROCESS_CPUTIME_ID);
	for (size_t at = 0; at < stream->len; at += 16) {
		auto_free char *bytes = NULL;
		size_t left = stream->len - at;
		size_t len = 0;

		CHECK(frame_push(frame, stream->bytes + at, left < 16 ? left : 16) == 0);
		while (frame_next(frame, &bytes, &len, &err) == 1) {
			number++;
			free(take_ptr(bytes));
		}
	}
	CHECK_EQ_INT(number, 2);
	CHECK(clock_us_of(CLOCK_PROCESS_CPUTIME_ID) - before_us < 20000000);
}

TEST(a_frame_without_memory_loses_nothing)
{
	WITH_BUF(stream);

	for (unsigned i = 0; i < 6; i++)
		put_message(stream, i, i * 5000);
	FAULT_LOOP(FAULT_ALLOC) {
		WITH_FRAME(frame, MEGABYTE);
		unsigned number = 0;
		size_t at = 0;

		for (int tries = 0; tries < 200 && at < stream->len; tries++) {
			size_t left = stream->len - at;
			size_t step = left < 3000 ? left : 3000;

			if (frame_push(frame, stream->bytes + at, step) == 0)
				at += step;
			number = take_all(frame, number);
		}
		number = take_all(frame, number);
		CHECK_EQ_INT(number, 6);
	}
}
