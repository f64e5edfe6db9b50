#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/wire.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/wire_copy.h"

AUTO_DEFINE(struct buf, buf_done);

#define MEGABYTE ((size_t)1 << 20)

#define WITH_BUF(name)                                       \
	struct buf name##_itself;                            \
	auto_of(buf_done) struct buf *name = &name##_itself; \
	buf_init(name, 64 * MEGABYTE)

/* ---- scanning ---- */

static int scan_whole(const char *bytes, size_t len, size_t size_max, unsigned depth_max,
	size_t *ret_len, struct err *err)
{
	struct wire_scanner scanner;

	wire_scanner_init(&scanner, size_max, depth_max);
	return wire_scan(&scanner, bytes, len, ret_len, err);
}

TEST(a_scan_finds_the_end_of_a_message_and_not_a_byte_further)
{
	static const char bytes[] = "\x94\x00\x01\xa3run\x91\x81\xa4"
				    "code\xc4\x02hi\xff\xff";
	size_t whole = sizeof(bytes) - 3;
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(scan_whole(bytes, sizeof(bytes) - 1, MEGABYTE, 32, &len, &err), 1);
	CHECK_EQ_INT(len, whole);
	for (size_t part = 0; part < whole; part++)
		CHECK_EQ_INT(scan_whole(bytes, part, MEGABYTE, 32, &len, &err), 0);
}

/* A message with every kind of value, each in a longer form than it needs. */
static void put_everything(struct buf *buf)
{
	(void)buf_append(buf, "\xdd\0\0\0\x09", 5);
	(void)buf_append(buf, "\xdf\0\0\0\x01\xdb\0\0\0\x01k\xdc\0\x01\xc3", 15);
	(void)buf_append(buf, "\xcf\0\0\0\0\0\0\0\1\xd3\0\0\0\0\0\0\0\1", 18);
	(void)buf_append(buf, "\xcb\x3f\xf8\0\0\0\0\0\0\xca\x3f\xc0\0\0", 14);
	(void)buf_append(buf, "\xda\0\x02hi\xc6\0\0\0\x02\x01\x02\xc0\xde\0\0", 16);
}

TEST(a_message_that_drips_in_is_scanned_where_the_last_scan_stopped)
{
	WITH_BUF(buf);
	struct wire_scanner scanner;
	size_t len = 0;
	struct err err = ERR_INIT;

	put_everything(buf);
	wire_scanner_init(&scanner, MEGABYTE, 32);
	for (size_t part = 0; part < buf->len; part++) {
		size_t before = scanner.at;

		CHECK_EQ_INT(wire_scan(&scanner, buf->bytes, part, &len, &err), 0);
		CHECK(scanner.at >= before);
	}
	CHECK_EQ_INT(wire_scan(&scanner, buf->bytes, buf->len, &len, &err), 1);
	CHECK_EQ_INT(len, buf->len);
}

TEST(a_scan_refuses_a_message_as_soon_as_its_lengths_pass_the_ceiling)
{
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(scan_whole("\xdd\x04\0\0\0", 5, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK_EQ_INT(scan_whole("\xdb\0\x10\0\0", 5, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK_EQ_INT(scan_whole("\xdf\x7f\xff\xff\xff", 5, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(scan_whole("\xdf\xff\xff\xff\xff", 5, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(scan_whole("\xc9\xff\xff\xff\xff\x01", 6, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
}

TEST(a_message_of_exactly_the_ceiling_passes)
{
	static const char bytes[] = "\x93\xa1x\xcc\xff\xc0";
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(scan_whole(bytes, 6, 6, 32, &len, &err), 1);
	CHECK_EQ_INT(len, 6);
	CHECK_EQ_INT(scan_whole(bytes, 6, 5, 32, &len, &err), -1);
	CHECK_EQ_INT(scan_whole(bytes, 1, 3, 32, &len, &err), -1);
	CHECK_EQ_INT(scan_whole(bytes, 1, 4, 32, &len, &err), 0);
}

TEST(nesting_is_bounded)
{
	char bytes[100];
	size_t len = 0;
	struct err err = ERR_INIT;

	memset(bytes, '\x91', sizeof(bytes));
	bytes[31] = '\x90';
	CHECK_EQ_INT(scan_whole(bytes, 32, MEGABYTE, 32, &len, &err), 1);
	bytes[31] = '\x91';
	bytes[32] = '\xc0';
	CHECK_EQ_INT(scan_whole(bytes, 33, MEGABYTE, 32, &len, &err), 1);
	bytes[32] = '\x90';
	CHECK_EQ_INT(scan_whole(bytes, 33, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	memset(bytes, '\x81', sizeof(bytes));
	bytes[0] = '\x91';
	CHECK_EQ_INT(scan_whole("\x91\x91\xc0", 3, MEGABYTE, 1, &len, &err), -1);
	CHECK_EQ_INT(scan_whole("\x91\xc0", 2, MEGABYTE, 1, &len, &err), 1);
	CHECK_EQ_INT(scan_whole("\x90", 1, MEGABYTE, 0, &len, &err), -1);
	CHECK_EQ_INT(scan_whole("\xc0", 1, MEGABYTE, 0, &len, &err), 1);
}

TEST(a_scan_knows_whether_nesting_is_what_it_refused)
{
	struct wire_scanner scanner;
	size_t len = 0;
	struct err err = ERR_INIT;

	wire_scanner_init(&scanner, MEGABYTE, 1);
	CHECK_EQ_INT(wire_scan(&scanner, "\x91\xc1", 2, &len, &err), -1);
	CHECK(!scanner.is_too_deep);
	wire_scanner_init(&scanner, MEGABYTE, 1);
	CHECK_EQ_INT(wire_scan(&scanner, "\x91\x91\xc0", 3, &len, &err), -1);
	CHECK(scanner.is_too_deep);
}

/* Scans `bytes` as they arrive one by one, and skips once.  Returns where the message ends, or 0. */
static size_t skip_to_end(const char *bytes, size_t len, size_t size_max, unsigned depth_max)
{
	struct wire_scanner scanner;
	size_t end = 0;

	wire_scanner_init(&scanner, size_max, depth_max);
	for (size_t i = 1; i <= len; i++) {
		int scanned = wire_scan(&scanner, bytes, i, &end, NULL);

		if (scanned < 0 && !wire_scan_may_skip(&scanner))
			return 0;
		if (scanned < 0)
			scanner.skips = true;
		if (scanned > 0)
			return end;
	}
	return 0;
}

TEST(a_scan_that_skips_knows_where_a_refused_message_ends)
{
	/* [[[[]], {0: [[]]}], 0] and a nil behind it */
	static const char bytes[] = "\x92\x92\x91\x91\x90\x81\x00\x91\x90\x00\xc0";

	for (unsigned depth = 0; depth < 6; depth++)
		CHECK_EQ_INT(skip_to_end(bytes, 11, MEGABYTE, depth), 10);
	for (size_t size = 1; size < 11; size++)
		CHECK_EQ_INT(skip_to_end(bytes, 11, size, 32), 10);
	for (size_t size = 1; size < 11; size++)
		CHECK_EQ_INT(skip_to_end(bytes, 11, size, 2), 10);
	CHECK_EQ_INT(skip_to_end("\x92\xc4\x03\xc1\xc1\xc1\x00", 7, 4, 32), 7); /* skips a body */
}

TEST(a_scan_does_not_skip_what_is_no_msgpack_or_never_ends)
{
	CHECK_EQ_INT(skip_to_end("\x92\xc1\x00", 3, MEGABYTE, 32), 0);
	CHECK_EQ_INT(
		skip_to_end("\x91\x91\x92\xc1\x00", 5, MEGABYTE, 1), 0); /* below a refused one */
	CHECK_EQ_INT(skip_to_end("\x92\xc6\x40\x00\x00\x00", 6, MEGABYTE, 32), 0); /* 1 GiB */
	CHECK_EQ_INT(skip_to_end("\xdd\x7f\xff\xff\xff", 5, MEGABYTE, 32), 0);
}

TEST(many_levels_that_end_together_are_all_left)
{
	static const char bytes[] = "\x92\x92\x92\x92\x90\x90\x90\x90\x90";
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(scan_whole(bytes, sizeof(bytes) - 1, MEGABYTE, 32, &len, &err), 1);
	CHECK_EQ_INT(len, sizeof(bytes) - 1);
}

TEST(the_byte_the_format_never_uses_breaks_a_scan)
{
	size_t len = 0;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(scan_whole("\x92\xc0\xc1", 3, MEGABYTE, 32, &len, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
}

/* ---- decoding ---- */

TEST(a_message_decodes_the_same_copied_and_in_place)
{
	WITH_ARENA(arena);
	WITH_BUF(buf);
	const struct value *copied;
	const struct value *kept;
	struct err err = ERR_INIT;

	put_everything(buf);
	copied = wire_decode_copy(arena, buf->bytes, buf->len, NULL, &err);
	CHECK(copied);
	CHECK(buf_reserve(buf, 1) == 0);
	kept = wire_decode_in_place(arena, buf->bytes, buf->len, NULL, &err);
	CHECK(kept);
	CHECK(value_equal(copied, kept));
	CHECK_EQ_INT(copied->list.count, 9);
	CHECK_STR(value_as_text(value_at(kept, 5)), "hi");
}

TEST(texts_left_in_place_end_with_a_nul_even_the_last)
{
	WITH_ARENA(arena);
	char bytes[] = "\x94\xa3one\xa0\xc4\x01x\x81\xa3two\xa5three~";
	size_t len = sizeof(bytes) - 2;
	const struct value *list;
	struct err err = ERR_INIT;

	list = wire_decode_in_place(arena, bytes, len, NULL, &err);
	CHECK(list);
	CHECK_STR(value_as_text(value_at(list, 0)), "one");
	CHECK_STR(value_as_text(value_at(list, 1)), "");
	CHECK_STR(value_at(list, 3)->map.entries[0].key, "two");
	CHECK_STR(value_as_text(value_get(value_at(list, 3), "two")), "three");
	CHECK(value_as_text(value_at(list, 0)) > bytes &&
		value_as_text(value_at(list, 0)) < bytes + len);
}

static void check_refused(const char *bytes, size_t len, const char *reason, size_t offset)
{
	WITH_ARENA(arena);
	struct wire_fault fault = { NULL, 0 };
	struct err err = ERR_INIT;

	CHECK(!wire_decode_copy(arena, bytes, len, &fault, &err));
	CHECK_STR(fault.reason, reason);
	CHECK_EQ_INT(fault.offset, offset);
	CHECK(err.code != ERR_NONE && *err.text);
	CHECK(!wire_decode_copy(arena, bytes, len, NULL, NULL));
}

TEST(what_is_refused_says_why_and_where)
{
	check_refused("", 0, "syntax", 0);
	check_refused("\x91", 1, "syntax", 0);
	check_refused("\xc0\xc0", 2, "syntax", 1);
	check_refused("\x92\xc0\xc1", 3, "syntax", 2);
	check_refused("\x91\xa1\xff", 3, "utf8", 2);
	check_refused("\x81\x01\x01", 3, "type", 2);
	check_refused("\x91\xd4\x01\x01", 4, "type", 2);
	check_refused("\x82\xa1k\xc0\xa1k\xc0", 7, "duplicate", 7);
	check_refused("\xca\x7f\x80\0\0", 5, "range", 5);
	check_refused("\xcb\x7f\xf8\0\0\0\0\0\0", 9, "range", 9);
	check_refused("\xdd\xff\xff\xff\xff", 5, "syntax", 0);
	check_refused("\xdf\x80\0\0\0", 5, "syntax", 0);
}

TEST(every_message_cut_short_is_refused)
{
	WITH_BUF(buf);

	put_everything(buf);
	for (size_t len = 0; len < buf->len; len++) {
		WITH_ARENA(arena);
		struct wire_fault fault = { NULL, 0 };
		struct err err = ERR_INIT;

		CHECK(!wire_decode_copy(arena, buf->bytes, len, &fault, &err));
		CHECK_STR(fault.reason, "syntax");
	}
}

TEST(a_decoder_is_safe_without_a_scan_before_it)
{
	char bytes[4096];

	memset(bytes, '\x91', sizeof(bytes));
	check_refused(bytes, sizeof(bytes), "depth", WIRE_DEPTH_MAX + 1);
	memset(bytes, '\x81', sizeof(bytes));
	check_refused(bytes, sizeof(bytes), "type", 2);
}

/* A map of `count` keys, all different.  `twice` names a key that is repeated at the end. */
static void put_keys(struct buf *buf, unsigned count, int twice)
{
	char key[16];

	(void)wire_put_map(buf, count);
	for (unsigned i = 0; i < count; i++) {
		unsigned number = i == count - 1 && twice >= 0 ? (unsigned)twice : i;

		(void)snprintf(key, sizeof(key), "key%u", number);
		(void)wire_put_text(buf, key);
		(void)wire_put_nil(buf);
	}
}

TEST(duplicate_keys_are_found_in_maps_of_any_size)
{
	static const unsigned counts[] = { 2, 3, 8, 9, 10, 15, 16, 17, 33, 1000, 65536, 100000 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		WITH_ARENA(arena);
		WITH_BUF(buf);
		struct wire_fault fault = { NULL, 0 };
		struct err err = ERR_INIT;
		const struct value *map;

		put_keys(buf, counts[i], -1);
		map = wire_decode_copy(arena, buf->bytes, buf->len, &fault, &err);
		CHECK(map && map->map.count == counts[i]);
		buf->len = 0;
		put_keys(buf, counts[i], 0);
		CHECK(!wire_decode_copy(arena, buf->bytes, buf->len, &fault, &err));
		CHECK_STR(fault.reason, "duplicate");
		buf->len = 0;
		put_keys(buf, counts[i], (int)counts[i] - 2);
		CHECK(!wire_decode_copy(arena, buf->bytes, buf->len, &fault, &err));
		CHECK_STR(fault.reason, "duplicate");
	}
}

TEST(keys_that_differ_only_behind_a_nul_differ)
{
	WITH_ARENA(arena);
	const struct value *map;
	struct err err = ERR_INIT;

	map = wire_decode_copy(arena, "\x83\xa2\0a\x01\xa2\0b\x02\xa0\x03", 11, NULL, &err);
	CHECK(map);
	CHECK_EQ_INT(value_as_int(value_get_len(map, "\0b", 2), 0), 2);
	CHECK_EQ_INT(value_as_int(value_get(map, ""), 0), 3);
}

TEST(memory_for_a_message_is_bounded_by_its_arena)
{
	struct arena arena_room;
	auto_of(arena_done) struct arena *arena = &arena_room;
	auto_free char *bytes = calloc(1, MEGABYTE + 1);
	struct wire_fault fault = { NULL, 0 };
	struct err err = ERR_INIT;

	arena_init(arena, MEGABYTE);
	CHECK(bytes);
	memcpy(bytes, "\xdd\x00\x0f\xff\xfb", 5);
	CHECK(!wire_decode_in_place(arena, bytes, MEGABYTE, &fault, &err));
	CHECK_STR(fault.reason, "memory");
	CHECK_EQ_INT(err.code, ERR_MEMORY);
	CHECK(arena->used <= MEGABYTE);
}

TEST(decoding_without_memory_fails_and_says_so)
{
	WITH_BUF(buf);

	put_keys(buf, 200, -1);
	FAULT_LOOP(FAULT_ALLOC) {
		WITH_ARENA(arena);
		struct err err = ERR_INIT;
		const struct value *map;
		char bytes[4096];

		CHECK(buf->len < sizeof(bytes));
		memcpy(bytes, buf->bytes, buf->len);
		map = wire_decode_in_place(arena, bytes, buf->len, NULL, &err);

		CHECK(map || (fault_hit() && err.code == ERR_MEMORY));
	}
}

/* ---- encoding ---- */

static void check_encoded(const struct value *value, const char *bytes, size_t len)
{
	WITH_BUF(buf);
	struct err err = ERR_INIT;

	CHECK(value);
	CHECK(wire_encode(buf, value, &err) == 0);
	CHECK_EQ_INT(buf->len, len);
	CHECK(memcmp(buf->bytes, bytes, len) == 0);
}

TEST(integers_take_their_shortest_form)
{
	WITH_ARENA(arena);

	check_encoded(value_int(arena, 0), "\x00", 1);
	check_encoded(value_int(arena, 127), "\x7f", 1);
	check_encoded(value_int(arena, 128), "\xcc\x80", 2);
	check_encoded(value_int(arena, 255), "\xcc\xff", 2);
	check_encoded(value_int(arena, 256), "\xcd\x01\x00", 3);
	check_encoded(value_int(arena, 65535), "\xcd\xff\xff", 3);
	check_encoded(value_int(arena, 65536), "\xce\x00\x01\x00\x00", 5);
	check_encoded(value_int(arena, UINT32_MAX), "\xce\xff\xff\xff\xff", 5);
	check_encoded(value_int(arena, 1L << 32), "\xcf\0\0\0\1\0\0\0\0", 9);
	check_encoded(value_uint(arena, UINT64_MAX), "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	check_encoded(value_int(arena, -1), "\xff", 1);
	check_encoded(value_int(arena, -32), "\xe0", 1);
	check_encoded(value_int(arena, -33), "\xd0\xdf", 2);
	check_encoded(value_int(arena, -128), "\xd0\x80", 2);
	check_encoded(value_int(arena, -129), "\xd1\xff\x7f", 3);
	check_encoded(value_int(arena, -32769), "\xd2\xff\xff\x7f\xff", 5);
	check_encoded(value_int(arena, INT64_MIN), "\xd3\x80\0\0\0\0\0\0\0", 9);
}

TEST(reals_are_short_only_when_nothing_is_lost)
{
	WITH_ARENA(arena);

	check_encoded(value_real(arena, 1.5), "\xca\x3f\xc0\0\0", 5);
	check_encoded(value_real(arena, -0.0), "\xca\x80\0\0\0", 5);
	check_encoded(value_real(arena, 0.1), "\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a", 9);
	check_encoded(value_real(arena, 1e300), "\xcb\x7e\x37\xe4\x3c\x88\x00\x75\x9c", 9);
}

TEST(texts_bytes_and_containers_take_their_shortest_form)
{
	static const struct {
		size_t len;
		const char *text;
		const char *bytes;
	} heads[] = {
		{ 0, "\xa0", "\xc4\x00" },
		{ 31, "\xbf", "\xc4\x1f" },
		{ 32, "\xd9\x20", "\xc4\x20" },
		{ 255, "\xd9\xff", "\xc4\xff" },
		{ 256, "\xda\x01\x00", "\xc5\x01\x00" },
		{ 65535, "\xda\xff\xff", "\xc5\xff\xff" },
		{ 65536, "\xdb\x00\x01\x00\x00", "\xc6\x00\x01\x00\x00" },
	};
	static char content[65536];

	memset(content, 'a', sizeof(content));
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		WITH_ARENA(arena);
		WITH_BUF(buf);
		size_t len = heads[i].len;
		size_t head_len = len < 32 ? 1 : len < 256 ? 2 : len < 65536 ? 3 : 5;
		struct err err = ERR_INIT;

		CHECK(wire_encode(buf, value_text_len(arena, content, len), &err) == 0);
		CHECK_EQ_INT(buf->len, head_len + len);
		CHECK(memcmp(buf->bytes, heads[i].text, head_len) == 0);
		CHECK(wire_encode(buf, value_bytes(arena, content, len), &err) == 0);
		CHECK(memcmp(buf->bytes + head_len + len, heads[i].bytes, head_len) == 0 ||
			len < 32);
	}
}

TEST(an_encoding_that_fails_appends_nothing)
{
	WITH_ARENA(arena);
	WITH_BUF(buf);
	struct value *list = value_list(arena);
	struct err err = ERR_INIT;

	(void)value_list_add(arena, list, value_text(arena, "before"));
	(void)value_list_add(arena, list, value_real(arena, (double)NAN));
	(void)buf_append_text(buf, "kept");
	CHECK(wire_encode(buf, list, &err) < 0);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_EQ_INT(buf->len, 4);
	CHECK(wire_encode(buf, value_real(arena, (double)INFINITY), &err) < 0);
	CHECK_EQ_INT(buf->len, 4);
}

TEST(an_encoding_past_the_ceiling_is_refused)
{
	WITH_ARENA(arena);
	struct buf buf;
	auto_of(buf_done) struct buf *held = &buf;
	struct err err = ERR_INIT;

	buf_init(held, 10);
	CHECK(wire_encode(&buf, value_text(arena, "0123456789"), &err) < 0);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK_EQ_INT(buf.len, 0);
	CHECK(wire_encode(&buf, value_text(arena, "012345678"), &err) == 0);
	CHECK(wire_put_nil(&buf) < 0);
	CHECK(wire_put_text(&buf, "") < 0);
	CHECK_EQ_INT(buf.len, 10);
}

TEST(what_nests_too_deep_is_not_written)
{
	WITH_ARENA(arena);
	WITH_BUF(buf);
	struct value *value = value_nil(arena);
	struct err err = ERR_INIT;

	for (int depth = 1; depth <= WIRE_DEPTH_MAX; depth++) {
		struct value *list = value_list(arena);

		(void)value_list_add(arena, list, value);
		value = list;
	}
	CHECK(wire_encode(buf, value, &err) == 0);
	CHECK(wire_decode_copy(arena, buf->bytes, buf->len, NULL, &err));
	buf->len = 0;
	{
		struct value *list = value_list(arena);

		(void)value_list_add(arena, list, value);
		CHECK(wire_encode(buf, list, &err) < 0);
	}
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_EQ_INT(buf->len, 0);
}

TEST(text_for_people_travels_as_bytes_when_it_is_not_utf8)
{
	WITH_BUF(buf);

	CHECK(wire_put_text(buf, "ok") == 0);
	CHECK(wire_put_text(buf, "\xff") == 0);
	CHECK(buf->len == 6 && memcmp(buf->bytes, "\xa2ok\xc4\x01\xff", 6) == 0);
}

TEST(encoding_without_memory_fails_whole)
{
	WITH_ARENA(arena);
	struct value *list = value_list(arena);

	for (int i = 0; i < 300; i++)
		(void)value_list_add(arena, list, value_text(arena, "some text"));
	FAULT_LOOP(FAULT_ALLOC) {
		WITH_BUF(buf);
		struct err err = ERR_INIT;
		int encoded = wire_encode(buf, list, &err);

		CHECK(encoded == 0 || (fault_hit() && buf->len == 0));
	}
}

TEST(lists_and_maps_of_many_take_the_head_they_need)
{
	static const struct {
		size_t count;
		const char *list;
		const char *map;
		size_t len;
	} heads[] = {
		{ 15, "\x9f", "\x8f", 1 },
		{ 16, "\xdc\x00\x10", "\xde\x00\x10", 3 },
		{ 65535, "\xdc\xff\xff", "\xde\xff\xff", 3 },
		{ 65536, "\xdd\x00\x01\x00\x00", "\xdf\x00\x01\x00\x00", 5 },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		WITH_ARENA(arena);
		WITH_BUF(buf);
		struct value *list = value_list(arena);
		struct value *nil = value_nil(arena);
		struct err err = ERR_INIT;

		for (size_t item = 0; item < heads[i].count; item++)
			(void)value_list_add(arena, list, nil);
		CHECK(wire_encode(buf, list, &err) == 0);
		CHECK(memcmp(buf->bytes, heads[i].list, heads[i].len) == 0);
		CHECK_EQ_INT(buf->len, heads[i].len + heads[i].count);
		CHECK(value_equal(wire_decode_copy(arena, buf->bytes, buf->len, NULL, &err), list));
		buf->len = 0;
		CHECK(wire_put_map(buf, heads[i].count) == 0);
		CHECK(buf->len == heads[i].len && memcmp(buf->bytes, heads[i].map, buf->len) == 0);
	}
}
