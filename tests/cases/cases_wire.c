/*
 * Cases of msgpack bytes: tests/cases/wire/.
 *
 * The first part holds messages in hex, one a line, all of the same value; `61*300` repeats a
 * byte, and what follows a # is for people.  The second part is the value as print_value()
 * writes it, or `refused` and the reason.  The third part is the value's shortest form.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/wire.h"
#include "tests/cases.h"
#include "tests/check.h"
#include "tests/wire_copy.h"

AUTO_DEFINE(struct arena, arena_done);
AUTO_DEFINE(struct buf, buf_done);

#define BYTES_MAX ((size_t)1 << 22)

/* ---- hex ---- */

/* Appends the bytes of one line and gives the next line, or NULL after the last. */
static const char *read_hex_line(const char *text, struct buf *ret_bytes)
{
	const char *end = strchr(text, '\n');
	char *rest = NULL;

	while (*text && *text != '\n' && *text != '#') {
		char digits[3] = { text[0], text[1], '\0' };
		unsigned long count = 1;

		if (isspace((unsigned char)*text)) {
			text++;
			continue;
		}
		text += 2;
		if (*text == '*') {
			count = strtoul(text + 1, &rest, 10);
			text = rest;
		}
		while (count-- > 0)
			(void)buf_append_byte(ret_bytes, (uint8_t)strtoul(digits, NULL, 16));
	}
	return end ? end + 1 : NULL;
}

/* ---- values as text ---- */

static void print_bytes(struct buf *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t same = 1;

		while (i + same < len && bytes[i + same] == bytes[i])
			same++;
		(void)buf_printf(out, "%s%02x", i ? " " : "", (unsigned char)bytes[i]);
		if (same > 3) {
			(void)buf_printf(out, "*%zu", same);
			i += same - 1;
		}
	}
}

static void print_text(struct buf *out, const char *text, size_t len)
{
	(void)buf_append_text(out, "\"");
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\' || (unsigned char)text[i] < ' ')
			(void)buf_printf(out, "\\x%02x", (unsigned char)text[i]);
		else
			(void)buf_append_byte(out, (uint8_t)text[i]);
	}
	(void)buf_append_text(out, "\"");
}

static void print_value(struct buf *out, const struct value *value);

static void print_list(struct buf *out, const struct value *list)
{
	(void)buf_append_text(out, "[");
	for (size_t i = 0; i < list->list.count; i++) {
		(void)buf_append_text(out, i ? ", " : "");
		print_value(out, list->list.items[i]);
	}
	(void)buf_append_text(out, "]");
}

static void print_map(struct buf *out, const struct value *map)
{
	(void)buf_append_text(out, "{");
	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		(void)buf_append_text(out, i ? ", " : "");
		print_text(out, entry->key, entry->key_len);
		(void)buf_append_text(out, ": ");
		print_value(out, entry->value);
	}
	(void)buf_append_text(out, "}");
}

static void print_value(struct buf *out, const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL:
		(void)buf_append_text(out, "nil");
		break;
	case VALUE_BOOL:
		(void)buf_append_text(out, value->boolean ? "true" : "false");
		break;
	case VALUE_INT:
		(void)buf_printf(out, "%lld", (long long)value->integer);
		break;
	case VALUE_UINT:
		(void)buf_printf(out, "%llu", (unsigned long long)value->uinteger);
		break;
	case VALUE_REAL:
		(void)buf_printf(out, "real %.17g", value->real);
		break;
	case VALUE_TEXT:
		print_text(out, value->text.bytes, value->text.len);
		break;
	case VALUE_BYTES:
		(void)buf_append_text(out, "<");
		print_bytes(out, value->text.bytes, value->text.len);
		(void)buf_append_text(out, ">");
		break;
	case VALUE_LIST:
		print_list(out, value);
		break;
	case VALUE_MAP:
		print_map(out, value);
		break;
	}
}

/* ---- a case ---- */

/* The second part without the end of its line. */
static bool says(const struct test_case *test, const struct buf *said)
{
	size_t len = test->part_len[1];

	while (len > 0 && test->part[1][len - 1] == '\n')
		len--;
	if (said->len == len && memcmp(said->bytes, test->part[1], len) == 0)
		return true;
	printf("# found: %.*s\n", (int)said->len, said->bytes);
	return false;
}

static void check_shortest(const struct test_case *test, const struct value *value)
{
	struct buf shortest;
	struct buf encoded;
	auto_of(buf_done) struct buf *held_shortest = &shortest;
	auto_of(buf_done) struct buf *held_encoded = &encoded;

	buf_init(held_shortest, BYTES_MAX);
	buf_init(held_encoded, BYTES_MAX);
	(void)read_hex_line(test->part[2], &shortest);
	CHECK(wire_encode(&encoded, value, NULL) == 0);
	CHECK_EQ_INT(encoded.len, shortest.len);
	CHECK(memcmp(encoded.bytes, shortest.bytes, shortest.len) == 0);
}

/* Decodes copied and in place; both must say the same. */
static void check_message(const struct test_case *test, struct buf *bytes, bool in_place)
{
	struct arena arena;
	struct buf said;
	auto_of(arena_done) struct arena *held_arena = &arena;
	auto_of(buf_done) struct buf *held_said = &said;
	struct wire_fault fault = { NULL, 0 };
	const struct value *value;

	arena_init(held_arena, BYTES_MAX);
	buf_init(held_said, BYTES_MAX);
	if (in_place)
		value = wire_decode_in_place(&arena, bytes->bytes, bytes->len, &fault, NULL);
	else
		value = wire_decode_copy(&arena, bytes->bytes, bytes->len, &fault, NULL);
	if (value)
		print_value(&said, value);
	else
		(void)buf_printf(&said, "refused %s", fault.reason);
	CHECK(says(test, &said));
	if (value)
		check_shortest(test, value);
}

void run_case(const struct test_case *test)
{
	const char *line = test->part[0];

	while (line && *line && check_ok()) {
		struct buf bytes;
		auto_of(buf_done) struct buf *held = &bytes;

		buf_init(held, BYTES_MAX);
		line = read_hex_line(line, &bytes);
		CHECK(buf_reserve(&bytes, 1) == 0);
		check_message(test, &bytes, false);
		check_message(test, &bytes, true);
	}
}
