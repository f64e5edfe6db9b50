#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/redact/encodings.h"
#include "daemon/redact/redactor.h"
#include "tests/check.h"

static struct arena arena;
static struct redactor redactor;

static const struct pattern_book *book(void)
{
	static struct pattern_book *shipped;
	struct err err = ERR_INIT;

	if (!shipped)
		shipped = pattern_book_load(NULL, &err); /* loaded once for the whole process */
	return shipped;
}

static void begin(const char *secret)
{
	struct bytes bytes = { secret, secret ? strlen(secret) : 0 };

	arena_done(&arena);
	arena_init(&arena, 64 << 20);
	redactor_init(&redactor, book(), secret ? encodings_of(&arena, &bytes, 1) : NULL, &arena);
}

static void comes_to(const char *text, unsigned cut, const char *hoped)
{
	struct bytes bytes = { text, strlen(text) };
	bool changed = redact_bytes(&redactor, &bytes, cut);

	CHECK_EQ_INT(changed, strcmp(text, hoped) != 0);
	CHECK_EQ_INT(bytes.len, strlen(hoped));
	CHECK(!memcmp(bytes.data, hoped, bytes.len < strlen(hoped) ? bytes.len : strlen(hoped)));
	if (memcmp(bytes.data, hoped, strlen(hoped)) != 0)
		CHECK_STR(bytes.data, hoped);
}

#define KEY "AKIAIOSFODNN7EXAMPLE"

TEST(what_has_nothing_to_mask_is_left_where_it_is)
{
	static const char text[] = "print(1)\n";
	struct bytes bytes = { text, sizeof(text) - 1 };
	size_t used;

	begin("hunter2");
	used = arena.used;
	CHECK(!redact_bytes(&redactor, &bytes, 0));
	CHECK(bytes.data == text);
	CHECK_EQ_INT(arena.used, used);
	CHECK_EQ_INT(redactor.masks, 0);
}

TEST(secrets_and_patterns_are_masked_and_counted)
{
	begin("hunter2");
	comes_to("a hunter2 b " KEY " c hunter2", 0,
		"a [masked:secret] b [masked:aws-access-key-id] c [masked:secret]");
	CHECK_EQ_INT(redactor.masks, 3);
	comes_to("hunter2hunter2", 0, "[masked:secret]");
	CHECK_EQ_INT(redactor.masks, 4);
}

TEST(what_overlaps_becomes_one_mask)
{
	begin("EXAMPLE tail");
	comes_to("x " KEY " tail y", 0, "x [masked:aws-access-key-id] y");
	begin("xAKIA");
	comes_to("xAKIA", 0, "[masked:secret]");
}

TEST(lines_keep_their_numbers)
{
	begin("one\ntwo\nthree");
	comes_to("a\none\ntwo\nthree\nb\n", 0, "a\n[masked:secret]\n\n\nb\n");
}

TEST(a_secret_that_a_cut_goes_through_is_masked_as_far_as_it_is_there)
{
	begin("correct horse");
	comes_to("say correct ho", REDACT_CUT_END, "say [masked:secret]");
	comes_to("say correct ho", 0, "say correct ho");
	comes_to("say cor", REDACT_CUT_END, "say cor");
	comes_to("horse says", REDACT_CUT_FRONT, "[masked:secret] says");
	comes_to("horse says", 0, "horse says");
}

TEST(so_is_what_may_be_the_beginning_of_what_a_pattern_knows)
{
	begin(NULL);
	comes_to("id AKIAIOSFOD", REDACT_CUT_END, "id [masked:aws-access-key-id]");
	comes_to("id AKIAIOSFOD", 0, "id AKIAIOSFOD");
	comes_to("id AKIAIOSFOD x", REDACT_CUT_END, "id AKIAIOSFOD x");
	comes_to("postgres://ann:hunt", REDACT_CUT_END, "[masked:url-password]");
	comes_to("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ", REDACT_CUT_END,
		"[masked:private-key]\n");
}

TEST(what_stands_in_front_of_a_tail_tells_what_it_is_the_end_of)
{
	static const char text[] = "id " KEY " and hunter2";

	begin("hunter2");
	for (size_t front = 4; front < 23; front++) {
		struct bytes tail = { text + front, sizeof(text) - 1 - front };

		CHECK(redact_behind(&redactor, &tail, front, 0));
		CHECK_STR(tail.data, "[masked:aws-access-key-id] and [masked:secret]");
	}
	for (size_t front = 29; front < sizeof(text) - 1; front++) {
		struct bytes tail = { text + front, sizeof(text) - 1 - front };

		CHECK(redact_behind(&redactor, &tail, front, 0));
		CHECK_STR(tail.data, "[masked:secret]");
	}
}

TEST(bytes_that_are_no_text_are_looked_through_like_others)
{
	static const char bytes[] = "\xff\x00" KEY "\xff hunter2\0";
	struct bytes found = { bytes, sizeof(bytes) - 1 };

	begin("hunter2");
	CHECK(redact_bytes(&redactor, &found, 0));
	CHECK_EQ_INT(found.len, 2 + 26 + 2 + 15 + 1);
	CHECK(!memcmp(
		found.data, "\xff\x00[masked:aws-access-key-id]\xff [masked:secret]\0", found.len));
}

TEST(trees_are_copied_where_something_in_them_is_masked_and_only_there)
{
	struct value *map;
	struct value *list;
	const struct value *kept;

	begin("hunter2");
	map = value_map(&arena);
	list = value_list(&arena);
	value_list_add(&arena, list, value_text(&arena, "plain"));
	value_list_add(&arena, list, value_int(&arena, 7));
	value_map_put(&arena, map, "list", list);
	CHECK(redact_value(&redactor, map) == map);
	value_map_put(&arena, map, "hunter2", value_text(&arena, "a hunter2"));
	value_map_put(&arena, map, "hunter2hunter2", value_nil(&arena));
	kept = redact_value(&redactor, map);
	CHECK(kept != map);
	CHECK(value_get(kept, "list") == list);
	CHECK_STR(value_as_text(value_get(kept, "[masked:secret]")), "a [masked:secret]");
	CHECK(value_get(kept, "[masked:secret]~2"));
	CHECK_EQ_INT(kept->map.count, 3);
}

TEST(what_cannot_be_masked_for_want_of_memory_is_withheld)
{
	struct bytes bytes = { "a hunter2", 9 };
	size_t used;

	begin("hunter2");
	used = arena.used;
	arena.ceiling = used;
	CHECK(redact_bytes(&redactor, &bytes, 0));
	CHECK(strstr(bytes.data, "withheld"));
	CHECK(!strstr(bytes.data, "hunter2"));
}

#define WATCHED 20 /* allowance for the slowdown by sanitizers and valgrind */

/* ---- time ----------------------------------------------------------------------------------- */

static double ms_of(const char *piece, size_t len)
{
	size_t piece_len = strlen(piece);
	char *text = malloc(len);
	struct bytes bytes = { text, len };
	struct timespec from, to;

	for (size_t i = 0; i < len; i++)
		text[i] = piece[i % piece_len];
	begin("hunter2");
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	(void)redact_bytes(&redactor, &bytes, REDACT_CUT_END);
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	free(text);
	return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

TEST(hostile_text_takes_no_more_work_than_there_is)
{
	static const char *const pieces[] = {
		"eyJ",
		"eyJaaaaaaaaaaaaaaaaaaaaaa.",
		"-----BEGIN PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n-----END ",
		"://",
		"a://a:",
		"xxxxxxxxxxxxxxxxxxxxxxx://aaaaaaaaaaaaaaaa:aaaaaaaaaaaaaaaaaaaaa",
		"password=",
		";password=aaaaaaaaaaaaaaaa",
		"TOKEN",
		"\nTOKEN=",
		"secret_key = ",
		"authorization: ",
		"authorization: bearer aaaaaaaa ",
		"8Q~",
		"AKIA",
		"hunte",
		"hunter2",
	};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		double ms = ms_of(pieces[i], 1 << 20);

		printf("# 1 MiB of %.20s: %.1f ms%s\n", pieces[i][0] == '\n' ? "\\n" : pieces[i],
			ms, redactor.spent ? ", all work spent" : "");
		CHECK(ms < 5000 * WATCHED);
	}
}

/* The maximum number of secrets, each of maximum length and almost equal to the others. */
static void begin_with_many(void)
{
	static char texts[64][257];
	struct bytes secrets[64];

	for (size_t i = 0; i < 64; i++) {
		memset(texts[i], 'a', 256);
		for (size_t at = 47; at < 256; at += 48) /* in each piece of the secret */
			texts[i][at] = (char)(i < 49 ? '0' + i : '1' + i);
		secrets[i] = (struct bytes){ texts[i], 256 };
	}
	arena_done(&arena);
	arena_init(&arena, 64 << 20);
	redactor_init(&redactor, book(), encodings_of(&arena, secrets, 64), &arena);
}

TEST(hostile_secrets_take_no_more_looks_than_there_are)
{
	static char text[65536];
	struct bytes bytes = { text, sizeof(text) };

	memset(text, 'a', sizeof(text));
	begin_with_many();
	redactor_allow(&redactor, REDACT_WORK_SHORT);
	CHECK(redact_bytes(&redactor, &bytes, 0));
	CHECK(redactor.spent);
	CHECK_EQ_INT(redactor.looks, 0);
	CHECK(bytes.len < sizeof(text)); /* the end was not searched, so it is masked */
	CHECK(!memcmp(bytes.data + bytes.len - 15, "[masked:secret]", 15));
}

TEST(nor_do_many_short_texts)
{
	struct bytes bytes;

	begin_with_many();
	redactor_allow(&redactor, REDACT_WORK_SHORT);
	for (unsigned i = 0; i < 10000; i++) {
		bytes = (struct bytes){ "aaaz", 4 };
		(void)redact_bytes(&redactor, &bytes, REDACT_CUT_FRONT | REDACT_CUT_END);
	}
	CHECK(redactor.spent);
	CHECK_EQ_INT(redactor.looks, 0);
	CHECK_EQ_INT(bytes.len, 15); /* "[masked:secret]" */
	redactor_allow(&redactor, REDACT_WORK_LONG);
	bytes = (struct bytes){ "aaaz", 4 };
	CHECK(!redact_bytes(&redactor, &bytes, REDACT_CUT_FRONT | REDACT_CUT_END));
	CHECK(!redactor.spent);
}

TEST(ordinary_text_costs_some_milliseconds_for_a_mebibyte)
{
	static const char prose[] = "The quick brown fox, aged 12, jumps over {\"lazy\": [1, 2.5, "
				    "true]}\nand prints 3.14159 https://example.org/a/b?c=d\n";
	double ms = ms_of(prose, 1 << 20);

	printf("# 1 MiB: %.2f ms\n", ms);
	CHECK(ms < 500 * WATCHED); /* on a busy machine too; the printed number counts */
}
