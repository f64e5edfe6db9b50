#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

static struct value *read_text(struct arena *arena, const char *text)
{
	struct value *value = NULL;
	struct err err = ERR_INIT;

	return json_parse(arena, text, strlen(text), NULL, &value, &err) < 0 ? NULL : value;
}

/* Reads the text and writes the value again. */
static const char *rewritten(struct arena *arena, const char *text, unsigned style)
{
	struct value *value = read_text(arena, text);
	struct err err = ERR_INIT;
	struct bytes again;

	if (!value || json_write_text(arena, value, style, 1 << 20, &again, &err) < 0)
		return NULL;
	return again.data;
}

static void check_mistake(const char *text, const char *hoped)
{
	WITH_ARENA(arena);
	struct value *value = NULL;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(json_parse(arena, text, strlen(text), NULL, &value, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_STR(err.text, hoped);
}

TEST(integers_are_kept_exactly_up_to_64_bits)
{
	WITH_ARENA(arena);
	const char *text = "[0,-1,9007199254740993,9223372036854775807,9223372036854775808,"
			   "18446744073709551615,-9223372036854775808]";

	CHECK_STR(rewritten(arena, text, JSON_WRITE_COMPACT), text);
	CHECK(read_text(arena, "9223372036854775807")->type == VALUE_INT);
	CHECK(read_text(arena, "9223372036854775808")->type == VALUE_UINT);
	CHECK(read_text(arena, "18446744073709551615")->uinteger == UINT64_MAX);
}

TEST(large_integers_find_their_place_among_other_numbers)
{
	WITH_ARENA(arena);
	const char *text = "{\"a\":[1,2.5,18446744073709551614],\"9223372036854775808\":"
			   "\"9223372036854775808\",\"b\":9223372036854775809,\"c\":3}";

	CHECK_STR(rewritten(arena, text, JSON_WRITE_COMPACT), text);
}

TEST(integers_beyond_64_bits_are_refused_and_not_rounded)
{
	check_mistake("[1,\n 18446744073709551616]",
		"line 2, column 2: this integer does not fit 64 bits; write it as a string");
	check_mistake("-9223372036854775809",
		"line 1, column 1: this integer does not fit 64 bits; write it as a string");
	check_mistake("[123456789012345678901234567890]",
		"line 1, column 2: this integer does not fit 64 bits; write it as a string");
}

TEST(reals_come_back_as_the_same_double)
{
	WITH_ARENA(arena);
	static const char *const texts[] = { "0.1", "1.5", "-0.0", "1e+22", "5e-324",
		"1.7976931348623157e+308", "3.0", "123456789.12345679", "0.30000000000000004",
		"9.223372036854776e+18" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK(value_is(read_text(arena, texts[i]), VALUE_REAL));
		CHECK_STR(rewritten(arena, texts[i], JSON_WRITE_COMPACT), texts[i]);
	}
}

TEST(a_real_stays_a_real_and_an_integer_an_integer)
{
	WITH_ARENA(arena);

	CHECK_STR(rewritten(arena, "[1.0,1,1e2,-0]", JSON_WRITE_COMPACT), "[1.0,1,100.0,0]");
}

TEST(numbers_that_overflow_a_double_are_refused)
{
	check_mistake("[1e400]", "line 1, column 6: this number is too large");
}

TEST(texts_may_hold_any_character)
{
	WITH_ARENA(arena);
	const struct value *text = read_text(arena, "\"a\\u0000b\\ud83d\\ude00\\n\\/\\\"\"");

	CHECK(value_is(text, VALUE_TEXT));
	CHECK_EQ_INT(text->text.len, 10);
	CHECK(memcmp(text->text.bytes, "a\0b\xf0\x9f\x98\x80\n/\"", 10) == 0);
	CHECK_STR(rewritten(arena, "\"a\\u0000b\\u001f\\ud83d\\ude00\\n\\/\\\"\\\\\\t\"", 0),
		"\"a\\u0000b\\u001f\xf0\x9f\x98\x80\\n/\\\"\\\\\\t\"");
}

TEST(keys_keep_the_order_in_which_they_came)
{
	WITH_ARENA(arena);
	const char *text = "{\"z\":1,\"a\":{\"y\":2,\"b\":3},\"\":4}";

	CHECK_STR(rewritten(arena, text, JSON_WRITE_COMPACT), text);
}

TEST(pretty_writing_has_one_item_a_line)
{
	WITH_ARENA(arena);

	CHECK_STR(rewritten(arena, "{\"a\":[1,{}],\"b\":[]}", JSON_WRITE_PRETTY),
		"{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(a_mistake_is_named_with_its_place_and_without_the_text)
{
	check_mistake("", "line 1, column 0: the document ends too early");
	check_mistake("{\"a\": 1,\n \"b\" 2}", "line 2, column 6: this is not JSON");
	check_mistake("[1] 2", "line 1, column 5: something follows the document");
	check_mistake("{\"a\":1,\"a\":2}", "line 1, column 10: this key is there twice");
	check_mistake("{\"a\\u0000\":1}", "line 1, column 10: a key holds U+0000");
	check_mistake("\"\\ud800\"", "line 1, column 8: this is not JSON");
	check_mistake("[01]", "line 1, column 2: this is not JSON");
}

TEST(nan_and_infinity_are_refused_with_advice)
{
	check_mistake("[1, NaN]",
		"line 1, column 5: JSON has no NaN and no Infinity; write null or a string");
	check_mistake("-Infinity",
		"line 1, column 2: JSON has no NaN and no Infinity; write null or a string");
}

TEST(what_is_not_utf_8_is_refused)
{
	WITH_ARENA(arena);

	CHECK(!read_text(arena, "\"\xff\""));
	CHECK(!read_text(arena, "\"\xc0\x80\""));
	CHECK(!read_text(arena, "\"\xed\xa0\x80\""));
	CHECK(!read_text(arena, "\xef\xbb\xbf{}"));
}

TEST(other_dialects_are_refused)
{
	WITH_ARENA(arena);
	static const char *const texts[] = { "[1,]", "{a:1}", "{'a':1}", "[1 2]", "+1", ".5", "1.",
		"0x10", "// c\n1", "tru", "\"a\nb\"", "[", "]", "{\"a\"}", "--1", "1e", "\"\\x41\"",
		"undefined" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(!read_text(arena, texts[i]));
}

TEST(nesting_has_a_ceiling)
{
	WITH_ARENA(arena);
	const struct json_bounds bounds = { 1000, 3, 1000 };
	struct value *value = NULL;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(json_parse(arena, "[[[]]]", 6, &bounds, &value, &err), 0);
	CHECK_EQ_INT(json_parse(arena, "[[[[]]]]", 8, &bounds, &value, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK_STR(err.text, "line 1, column 4: this is nested more than 3 deep");
}

TEST(brackets_inside_texts_are_not_nesting)
{
	WITH_ARENA(arena);
	const struct json_bounds bounds = { 1000, 1, 1000 };
	const char *text = "[\"[[[\\\"[[\\\\\", \"[\"]";
	struct value *value = NULL;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(json_parse(arena, text, strlen(text), &bounds, &value, &err), 0);
}

TEST(size_and_number_of_values_have_ceilings)
{
	WITH_ARENA(arena);
	const struct json_bounds few = { 1000, 10, 4 }, small = { 4, 10, 100 };
	struct value *value = NULL;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(json_parse(arena, "[1,2,3]", 7, &few, &value, &err), 0);
	CHECK_EQ_INT(json_parse(arena, "[[],[],[]]", 10, &few, &value, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK(strstr(err.text, "the document has more than 4 values and keys together"));
	CHECK_EQ_INT(json_parse(arena, "[1,2]", 5, &small, &value, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
}

TEST(ten_thousand_brackets_do_no_harm)
{
	WITH_ARENA(arena);
	char text[10000];
	struct value *value = NULL;
	struct err err = ERR_INIT;

	memset(text, '[', sizeof(text));
	CHECK_EQ_INT(json_parse(arena, text, sizeof(text), NULL, &value, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
}

TEST(a_full_arena_is_an_error)
{
	struct arena arena;
	struct value *value = NULL;
	struct err err = ERR_INIT;

	arena_init(&arena, 64);
	CHECK_EQ_INT(json_parse(&arena, "[1,2,3,4]", 9, NULL, &value, &err), -1);
	CHECK_EQ_INT(err.code, ERR_MEMORY);
	arena_done(&arena);
}

TEST(bytes_are_written_only_when_asked_for)
{
	WITH_ARENA(arena);
	struct value *list = value_list(arena);
	struct err err = ERR_INIT;
	struct bytes text = { NULL, 0 };

	CHECK_EQ_INT(value_list_add(arena, list, value_bytes(arena, "\xff\x00\x01", 3)), 0);
	CHECK_EQ_INT(json_write_text(arena, list, 0, 100, &text, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_EQ_INT(json_write_text(arena, list, JSON_WRITE_BASE64, 100, &text, &err), 0);
	CHECK_STR(text.data, "[{\"base64\":\"/wAB\"}]");
	CHECK_EQ_INT(text.len, strlen(text.data));
}

TEST(a_key_that_could_not_be_read_again_is_refused_when_that_is_asked_for)
{
	WITH_ARENA(arena);
	struct value *map = value_map(arena);
	struct value *list = value_list(arena);
	struct err err = ERR_INIT;
	struct bytes text = { NULL, 0 };

	CHECK_EQ_INT(value_map_put_len(arena, map, "a\0b", 3, value_text_len(arena, "\0", 1)), 0);
	CHECK_EQ_INT(value_list_add(arena, list, map), 0);
	CHECK_EQ_INT(json_write_text(arena, list, JSON_WRITE_COMPACT, 100, &text, &err), 0);
	CHECK_STR(text.data, "[{\"a\\u0000b\":\"\\u0000\"}]");
	CHECK(!read_text(arena, text.data));
	CHECK_EQ_INT(json_write_text(arena, list, JSON_WRITE_READABLE, 100, &text, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_STR(err.text, "a key holds U+0000");
	CHECK_STR(rewritten(arena, "{\"a\":\"\\u0000\"}", JSON_WRITE_READABLE),
		"{\"a\":\"\\u0000\"}");
}

TEST(a_failed_write_leaves_the_buffer_as_it_was)
{
	WITH_ARENA(arena);
	struct value *list = value_list(arena);
	struct err err = ERR_INIT;
	struct buf buf;

	buf_init(&buf, 12);
	CHECK_EQ_INT(buf_append_text(&buf, "ab"), 0);
	CHECK_EQ_INT(value_list_add(arena, list, value_text(arena, "text")), 0);
	CHECK_EQ_INT(json_write(&buf, list, 0, &err), 0);
	CHECK_EQ_INT(buf.len, 10);
	CHECK_EQ_INT(json_write(&buf, list, 0, &err), -1);
	CHECK_EQ_INT(err.code, ERR_TOO_BIG);
	CHECK_EQ_INT(buf.len, 10);
	buf_done(&buf);
}

/* {"text": "\u0001…", "bytes": {"base64": …}, "list": [0, 1, …]}, each part some hundred bytes. */
static struct value *value_of_all_kinds(struct arena *arena)
{
	struct value *map = value_map(arena);
	struct value *list = value_list(arena);
	char bytes[500];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i % 5 ? 'a' + i % 26 : 1);
	for (int i = 0; i < 100; i++)
		(void)value_list_add(arena, list, value_int(arena, i));
	value_map_put(
		arena, map, "text", value_text(arena, arena_copy(arena, bytes, sizeof(bytes))));
	value_map_put(arena, map, "bytes", value_bytes(arena, bytes, sizeof(bytes)));
	value_map_put(arena, map, "list", list);
	return map;
}

TEST(the_start_of_a_value_is_the_start_of_its_text)
{
	WITH_ARENA(arena);
	const struct value *value = value_of_all_kinds(arena);
	struct bytes whole = { NULL, 0 };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(json_write_text(arena, value, JSON_WRITE_BASE64, 1 << 20, &whole, &err), 0);
	for (size_t room = 0; room < whole.len + 10; room++) {
		struct buf buf;
		bool same;

		buf_init(&buf, room);
		json_write_start(&buf, value, JSON_WRITE_BASE64);
		same = buf.len == (room < whole.len ? room : whole.len) &&
		       (!buf.len || !memcmp(buf.bytes, whole.data, buf.len));
		buf_done(&buf);
		CHECK(same);
	}
}

TEST(what_json_cannot_say_is_not_written)
{
	WITH_ARENA(arena);
	struct value *deep = value_list(arena);
	struct err err = ERR_INIT;
	struct bytes text = { NULL, 0 };

	CHECK_EQ_INT(
		json_write_text(arena, value_real(arena, (double)NAN), 0, 99, &text, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_EQ_INT(
		json_write_text(arena, value_real(arena, (double)-INFINITY), 0, 99, &text, &err),
		-1);
	for (int i = 0; i < JSON_DEPTH_MAX; i++) {
		struct value *outer = value_list(arena);

		CHECK_EQ_INT(value_list_add(arena, outer, deep), 0);
		deep = outer;
	}
	CHECK_EQ_INT(json_write_text(arena, deep, 0, 9999, &text, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
}

TEST(no_memory_is_an_error_and_leaves_nothing_behind)
{
	const char *text = "{\"a\":[18446744073709551615,\"b\",2.5]}";

	FAULT_LOOP(FAULT_ALLOC) {
		WITH_ARENA(arena);
		struct value *value = NULL;
		struct err err = ERR_INIT;
		struct bytes again;
		int r = json_parse(arena, text, strlen(text), NULL, &value, &err);

		if (r == 0)
			r = json_write_text(arena, value, 0, 1000, &again, &err);
		CHECK(r == 0 || fault_hit());
		CHECK(r == 0 || err.code == ERR_MEMORY);
	}
}
