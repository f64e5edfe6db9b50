#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job_display.h"
#include "proto/wire/wire.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

#define ITEMS ((size_t)1000)
#define SPARE 1 /* the byte behind the list, which the reader may use */

AUTO_DEFINE(struct buf, buf_done);

#define WITH_BUF(name)                                       \
	struct buf name##_itself;                            \
	auto_of(buf_done) struct buf *name = &name##_itself; \
	buf_init(name, (size_t)64 << 20)

/* The result that a list gives.  Its bytes are copied, as each needs a byte of its own behind it. */
static struct job_result result_of(struct arena *arena, const char *bytes, size_t len, bool cut)
{
	struct job_result result = { .outcome = OUTCOME_OK };
	char *copy = arena_alloc(arena, len + SPARE);

	if (copy && len)
		memcpy(copy, bytes, len);
	if (copy)
		job_display_read(arena, copy, len, cut, &result);
	return result;
}

static size_t count_of(const struct job_result *result)
{
	return value_is(result->display, VALUE_LIST) ? result->display->list.count : 0;
}

/* {"main": true, "data": {type: content}} */
static void put_item(struct buf *buf, const char *type, const struct value *content)
{
	(void)buf_append(buf,
		"\x82\xa4main\xc3\xa4"
		"data\x81",
		13);
	(void)wire_put_text(buf, type);
	(void)wire_encode(buf, content, NULL);
}

#define TEXT_ITEM              \
	"\x82\xa4main\xc3\xa4" \
	"data\x81\xaatext/plain\xa2hi"

static const struct value *content_of(
	const struct job_result *result, size_t item, const char *type)
{
	return value_get(value_get(value_at(result->display, item), "data"), type);
}

TEST(items_are_read_in_their_order)
{
	WITH_ARENA(arena);
	static const char bytes[] = TEXT_ITEM "\x81\xa4"
					      "data\x81\xa9image/png\xc4\x02\x01\x02" TEXT_ITEM;
	struct job_result result = result_of(arena, bytes, sizeof(bytes) - 1, false);

	CHECK_EQ_INT(count_of(&result), 3);
	CHECK(!result.display_broken && !result.display_truncated);
	CHECK_STR(value_as_text(content_of(&result, 0, "text/plain")), "hi");
	CHECK_STR(value_as_text(content_of(&result, 2, "text/plain")), "hi");
	CHECK(value_is(content_of(&result, 1, "image/png"), VALUE_BYTES));
	CHECK(value_as_bool(value_get(value_at(result.display, 0), "main"), false));
	CHECK(!value_as_bool(value_get(value_at(result.display, 1), "main"), true));
}

TEST(nothing_is_an_empty_list)
{
	WITH_ARENA(arena);
	struct job_result result = result_of(arena, "", 0, false);

	CHECK_EQ_INT(count_of(&result), 0);
	CHECK(result.display && !result.display_broken && !result.display_truncated);
}

/* Wherever the bytes end, the whole items are there, and the half one is somebody's fault. */
TEST(half_an_item_is_broken_unless_a_limit_has_cut_it)
{
	static const char bytes[] = TEXT_ITEM TEXT_ITEM;
	const size_t whole = (sizeof(bytes) - 1) / 2;

	for (size_t len = 0; len < sizeof(bytes); len++) {
		WITH_ARENA(arena);
		struct job_result result = result_of(arena, bytes, len, false);
		struct job_result cut = result_of(arena, bytes, len, true);

		CHECK_EQ_INT(count_of(&result), len / whole);
		CHECK_EQ_INT(result.display_broken, len % whole != 0);
		CHECK(!result.display_truncated);
		CHECK_EQ_INT(count_of(&cut), len / whole);
		CHECK(!cut.display_broken && cut.display_truncated);
	}
}

/* clang-format off */
static const struct {
	const char *what, *bytes;
	size_t len;
} strangers[] = {
#define BYTES(text) text, sizeof(text) - 1
	{ "no map", BYTES("\x01") },
	{ "a list", BYTES("\x91\x80") },
	{ "no data", BYTES("\x81\xa4main\xc3") },
	{ "no types", BYTES("\x81\xa4" "data\x80") },
	{ "data that is a list", BYTES("\x81\xa4" "data\x90") },
	{ "main that is a number", BYTES("\x82\xa4main\x01\xa4" "data\x81\xaatext/plain\xa0") },
	{ "a text that is a number", BYTES("\x81\xa4" "data\x81\xaatext/plain\x01") },
	{ "a text that is a map", BYTES("\x81\xa4" "data\x81\xaatext/plain\x80") },
	{ "no UTF-8", BYTES("\x81\xa4" "data\x81\xaatext/plain\xa1\xff") },
	{ "bytes in JSON", BYTES("\x81\xa4" "data\x81\xb0" "application/json\x91\xc4\x01x") },
	{ "bytes as JSON", BYTES("\x81\xa4" "data\x81\xb0" "application/json\xc4\x01x") },
	{ "bytes deep in JSON", BYTES("\x81\xa4" "data\x81\xa8" "a/b+json\x81\xa1k\x91\xc4\x01x") },
	{ "not a number", BYTES("\x81\xa4" "data\x81\xb0" "application/json\xcb\x7f\xf8\0\0\0\0\0\0") },
	{ "a type without a slash", BYTES("\x81\xa4" "data\x81\xa4text\xa0") },
	{ "two slashes", BYTES("\x81\xa4" "data\x81\xa5" "a/b/c\xa0") },
	{ "half a type", BYTES("\x81\xa4" "data\x81\xa5text/\xa0") },
	{ "the other half", BYTES("\x81\xa4" "data\x81\xa5/html\xa0") },
	{ "a type with a line break", BYTES("\x81\xa4" "data\x81\xa4" "a/b\n\xa0") },
	{ "an escape in a type", BYTES("\x81\xa4" "data\x81\xa4" "a/\x1b[\xa0") },
	{ "a NUL in a type", BYTES("\x81\xa4" "data\x81\xa4" "a/b\0\xa0") },
	{ "a capital letter", BYTES("\x81\xa4" "data\x81\xa3" "a/B\xa0") },
	{ "a type with parameters", BYTES("\x81\xa4" "data\x81\xa7" "a/b;c=d\xa0") },
	{ "a type that is hidden", BYTES("\x81\xa4" "data\x81\xa4" "a/.b\xa0") },
	{ "a type twice", BYTES("\x81\xa4" "data\x82\xa3" "a/b\xa0\xa3" "a/b\xa0") },
	{ "data twice", BYTES("\x82\xa4" "data\x81\xa3" "a/b\xa0\xa4" "data\x81\xa3" "a/b\xa0") },
	{ "a key that is bytes", BYTES("\x81\xc4\x04" "data\x81\xa3" "a/b\xa0") },
	{ "an extension type", BYTES("\x81\xa4" "data\x81\xa3" "a/b\xd4\x01\x01") },
	{ "a byte that nobody uses", BYTES("\xc1") },
	{ "a million entries", BYTES("\xdf\x00\x0f\x42\x40\xa4" "data\x80") },
	{ "four billion entries", BYTES("\xdf\xff\xff\xff\xff") },
	{ "a text of four gigabytes", BYTES("\x81\xa4" "data\x81\xa3" "a/b\xdb\xff\xff\xff\xffx") },
	{ "bytes of four gigabytes", BYTES("\x81\xa4" "data\x81\xa3" "a/b\xc6\xff\xff\xff\xffx") },
};
/* clang-format on */

TEST(what_is_no_item_ends_the_list_and_keeps_what_was_before_it)
{
	for (size_t i = 0; i < COUNT_OF(strangers); i++) {
		WITH_ARENA(arena);
		WITH_BUF(buf);
		struct job_result result;

		CHECK_EQ_INT(buf_append(buf, TEXT_ITEM, sizeof(TEXT_ITEM) - 1), 0);
		CHECK_EQ_INT(buf_append(buf, strangers[i].bytes, strangers[i].len), 0);
		CHECK_EQ_INT(buf_append(buf, TEXT_ITEM, sizeof(TEXT_ITEM) - 1), 0);
		result = result_of(arena, buf->bytes, buf->len, false);
		if (count_of(&result) != 1 || !result.display_broken || result.display_truncated)
			check_failed(__FILE__, __LINE__, strangers[i].what);
		CHECK_STR(value_as_text(content_of(&result, 0, "text/plain")), "hi");
	}
}

TEST(keys_that_are_not_known_are_passed_over)
{
	WITH_ARENA(arena);
	static const char bytes[] = "\x82\xa4"
				    "data\x81\xa3"
				    "a/b\xa1x\xa4meta\x81\xa1k\x01";
	struct job_result result = result_of(arena, bytes, sizeof(bytes) - 1, false);

	CHECK_EQ_INT(count_of(&result), 1);
	CHECK_EQ_INT(value_at(result.display, 0)->map.count, 2);
}

static struct job_result result_of_nested(struct arena *arena, unsigned levels)
{
	WITH_BUF(buf);

	put_item(buf, "application/json", &(struct value){ .type = VALUE_NIL });
	buf->len--;
	for (unsigned i = 0; i < levels; i++)
		(void)buf_append(buf, "\x91", 1);
	(void)buf_append(buf, "\xc0", 1);
	return result_of(arena, buf->bytes, buf->len, false);
}

TEST(nesting_ends_at_sixteen_levels_with_the_item)
{
	static const unsigned deep[] = { 15, 16, 64, 65, 1000, 1000000 };
	WITH_ARENA(arena);
	struct job_result result = result_of_nested(arena, JOB_DISPLAY_DEPTH_MAX - 2);

	CHECK_EQ_INT(count_of(&result), 1);
	for (size_t i = 0; i < COUNT_OF(deep); i++) {
		result = result_of_nested(arena, deep[i]);
		CHECK_EQ_INT(count_of(&result), 0);
		CHECK(result.display_broken);
	}
}

TEST(the_first_256_items_are_kept)
{
	WITH_ARENA(arena);
	WITH_BUF(buf);
	struct job_result result;

	for (int i = 0; i < JOB_DISPLAY_ITEMS_MAX; i++)
		CHECK_EQ_INT(buf_append(buf, TEXT_ITEM, sizeof(TEXT_ITEM) - 1), 0);
	result = result_of(arena, buf->bytes, buf->len, false);
	CHECK_EQ_INT(count_of(&result), JOB_DISPLAY_ITEMS_MAX);
	CHECK(!result.display_truncated && !result.display_broken);
	CHECK_EQ_INT(buf_append(buf, "\xc1", 1), 0); /* nobody reads it */
	result = result_of(arena, buf->bytes, buf->len, false);
	CHECK_EQ_INT(count_of(&result), JOB_DISPLAY_ITEMS_MAX);
	CHECK(result.display_truncated && !result.display_broken);
}

TEST(an_item_has_up_to_sixteen_types)
{
	for (unsigned types = 15; types <= 18; types++) {
		WITH_ARENA(arena);
		WITH_BUF(buf);
		struct job_result result;

		(void)buf_append(buf,
			"\x81\xa4"
			"data",
			6);
		(void)wire_put_map(buf, types);
		for (unsigned i = 0; i < types; i++) {
			(void)wire_put_text(buf, arena_printf(arena, "x/%u", i));
			(void)wire_put_text(buf, "y");
		}
		result = result_of(arena, buf->bytes, buf->len, false);
		CHECK_EQ_INT(count_of(&result), types <= JOB_DISPLAY_TYPES_MAX);
		CHECK_EQ_INT(result.display_broken, types > JOB_DISPLAY_TYPES_MAX);
	}
}

TEST(a_type_has_up_to_127_bytes)
{
	for (int len = 126; len <= 129; len++) {
		WITH_ARENA(arena);
		WITH_BUF(buf);
		struct job_result result;

		put_item(buf, arena_printf(arena, "x/%0*d", len - 2, 0), value_text(arena, ""));
		result = result_of(arena, buf->bytes, buf->len, false);
		CHECK_EQ_INT(count_of(&result), len <= JOB_DISPLAY_NAME_MAX);
	}
}

TEST(json_values_have_a_bound_of_their_own_and_pictures_have_not)
{
	WITH_BUF(buf);
	struct arena arena;
	struct job_result result;
	const size_t large = JOB_DISPLAY_JSON_MAX;
	struct value text = { .type = VALUE_TEXT };

	arena_init(&arena, (size_t)128 << 20);
	text.text.bytes = arena_alloc(&arena, large + 1);
	CHECK(text.text.bytes != NULL);
	memset((char *)(uintptr_t)text.text.bytes, 'x', large);
	text.text.len = large;
	put_item(buf, "text/plain", &text);
	put_item(buf, "application/json", &text);
	result = result_of(&arena, buf->bytes, buf->len, false);
	CHECK_EQ_INT(count_of(&result), 1);
	CHECK(result.display_broken);
	arena_done(&arena);
}

TEST(a_full_arena_ends_the_list)
{
	WITH_BUF(buf);
	struct value zero = { .type = VALUE_INT };
	struct value *items[ITEMS];
	struct value list = { .type = VALUE_LIST, .list = { items, ITEMS, ITEMS } };

	for (size_t i = 0; i < ITEMS; i++)
		items[i] = &zero;
	put_item(buf, "text/plain",
		&(struct value){ .type = VALUE_TEXT, .text = { "x", 1, false } });
	put_item(buf, "application/json", &list);
	for (size_t room = 0; room < 100000; room += 1000) {
		struct job_result result = { .outcome = OUTCOME_OK };
		char *copy = malloc(buf->len + SPARE);
		struct arena arena;

		CHECK(copy != NULL);
		memcpy(copy, buf->bytes, buf->len);
		arena_init(&arena, room);
		job_display_read(&arena, copy, buf->len, false, &result);
		CHECK(count_of(&result) == 2 || result.display_broken || !result.display);
		arena_done(&arena);
		free(copy);
	}
}

TEST(failing_memory_is_no_crash)
{
	static const char bytes[] = TEXT_ITEM TEXT_ITEM;

	FAULT_LOOP(FAULT_ALLOC) {
		struct job_result result = { .outcome = OUTCOME_OK };
		char copy[sizeof(bytes) + SPARE];
		struct arena arena;

		memcpy(copy, bytes, sizeof(bytes));
		arena_init(&arena, 4096);
		job_display_read(&arena, copy, sizeof(bytes) - 1, false, &result);
		CHECK(fault_hit() || count_of(&result) == 2);
		arena_done(&arena);
	}
}

TEST(a_list_of_a_record_loses_what_only_records_have)
{
	WITH_ARENA(arena);
	static const char bytes[] = TEXT_ITEM;
	struct job_result result = result_of(arena, bytes, sizeof(bytes) - 1, false);
	const struct value *again;

	CHECK_EQ_INT(
		value_map_put(arena, value_at(result.display, 0), "bytes", value_map(arena)), 0);
	again = job_display_of_record(arena, result.display);
	CHECK_EQ_INT(value_at(again, 0)->map.count, 2);
	CHECK(job_display_of_record(arena, NULL) == NULL);
	CHECK(job_display_of_record(arena, value_int(arena, 1)) == NULL);
}
