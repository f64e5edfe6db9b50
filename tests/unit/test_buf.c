#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "tests/check.h"
#include "tests/fault.h"

AUTO_DEFINE(struct buf, buf_done);

TEST(a_buffer_grows_with_what_is_appended)
{
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;

	buf_init(&buf, 1 << 20);
	for (int i = 0; i < 10000; i++)
		CHECK(buf_append(held, "0123456789", 10) == 0);
	CHECK_EQ_INT(buf.len, 100000);
	CHECK(memcmp(buf.bytes + 99990, "0123456789", 10) == 0);
}

TEST(an_append_past_the_ceiling_changes_nothing)
{
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;

	buf_init(&buf, 10);
	CHECK(buf_append(held, "12345", 5) == 0);
	CHECK(buf_append(&buf, "123456", 6) < 0);
	CHECK_EQ_INT(buf.len, 5);
	CHECK(buf_append(&buf, "67890", 5) == 0);
	CHECK(buf_append_byte(&buf, 'x') < 0);
	CHECK(buf.size <= 10);
	CHECK(memcmp(buf.bytes, "1234567890", 10) == 0);
}

TEST(a_reservation_that_would_overflow_is_refused)
{
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;

	buf_init(&buf, SIZE_MAX);
	CHECK(buf_append_byte(held, 'x') == 0);
	CHECK(buf_reserve(&buf, SIZE_MAX) < 0);
	CHECK_EQ_INT(buf.len, 1);
}

TEST(printing_appends_short_and_long_texts)
{
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;

	buf_init(&buf, 2000);
	CHECK(buf_printf(held, "%s=%d;", "a", 1) == 0);
	CHECK(buf_printf(&buf, "%01000d", 7) == 0);
	CHECK_EQ_INT(buf.len, 1004);
	CHECK(memcmp(buf.bytes, "a=1;000", 7) == 0 && buf.bytes[1003] == '7');
	CHECK(buf_printf(&buf, "%01000d", 7) < 0);
	CHECK_EQ_INT(buf.len, 1004);
}

TEST(printing_may_fill_a_buffer_to_its_ceiling)
{
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;

	buf_init(&buf, 300);
	CHECK(buf_printf(held, "%0300d", 1) == 0);
	CHECK_EQ_INT(buf.len, 300);
}

TEST(consuming_drops_from_the_front)
{
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;

	buf_init(&buf, 100);
	buf_consume(held, 3);
	CHECK(buf_append_text(&buf, "abcdef") == 0);
	buf_consume(&buf, 2);
	CHECK(buf.len == 4 && memcmp(buf.bytes, "cdef", 4) == 0);
	buf_consume(&buf, 99);
	CHECK_EQ_INT(buf.len, 0);
}

TEST(taking_gives_the_bytes_and_leaves_an_empty_buffer)
{
	struct buf buf;
	auto_free char *bytes = NULL;
	size_t len = 1;

	buf_init(&buf, 100);
	CHECK(!buf_take(&buf, &len));
	CHECK_EQ_INT(len, 0);
	CHECK(buf_append_text(&buf, "abc") == 0);
	bytes = buf_take(&buf, &len);
	CHECK(len == 3 && memcmp(bytes, "abc", 3) == 0);
	CHECK(!buf.bytes && buf.len == 0 && buf.size == 0);
	buf_done(&buf);
	buf_done(&buf);
}

TEST(a_buffer_without_memory_keeps_what_it_has)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct buf buf;
		auto_of(buf_done) struct buf *held = &buf;
		size_t len = 0;

		buf_init(&buf, 1 << 20);
		for (int i = 0; i < 40; i++)
			if (buf_printf(held, "%0300d", i) == 0)
				len += 300;
		CHECK_EQ_INT(buf.len, len);
		CHECK(len == 12000 || fault_hit());
	}
}
