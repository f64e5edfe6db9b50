#include <string.h>

#include "daemon/redact/multi_match.h"
#include "tests/check.h"

static struct arena arena;

static struct multi_match *make(const char *const *texts, bool any_case)
{
	struct match_text *items;
	size_t count = 0;

	arena_init(&arena, 1 << 20);
	while (texts[count])
		count++;
	items = arena_array(&arena, struct match_text, count + 1);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct match_text){ .bytes = texts[i],
			.len = strlen(texts[i]),
			.mark = (unsigned)i,
			.any_case = any_case };
	return multi_match_new(&arena, items, count);
}

static void finds(const struct multi_match *needles, const char *text, size_t from, size_t hoped_at,
	const char *hoped)
{
	size_t at = from;
	uint64_t looks = 1000;
	const struct match_text *found = multi_match_find(needles, text, strlen(text), &at, &looks);

	CHECK(found);
	CHECK_STR(found ? found->bytes : "", hoped);
	CHECK_EQ_INT(at, hoped_at);
}

static void finds_none(const struct multi_match *needles, const char *text)
{
	uint64_t looks = 1000;
	size_t at = 0;

	CHECK(!multi_match_find(needles, text, strlen(text), &at, &looks));
}

TEST(the_first_of_many_is_found_wherever_it_stands)
{
	struct multi_match *needles =
		make((const char *const[]){ "ab", "xyz", "q-q-q", NULL }, false);

	finds(needles, "..xyz.ab", 0, 2, "xyz");
	finds(needles, "..xyz.ab", 3, 6, "ab");
	finds(needles, "ab", 0, 0, "ab");
	finds(needles, "...q-q-q-q", 4, 5, "q-q-q");
	finds_none(needles, "xy");
	finds_none(needles, "XYZ a b");
	finds_none(needles, "");
	arena_done(&arena);
}

TEST(of_several_at_one_place_the_longest_is_found)
{
	struct multi_match *needles =
		make((const char *const[]){ "ab", "abcd", "abc", NULL }, false);

	finds(needles, "abcde", 0, 0, "abcd");
	finds(needles, "abcx", 0, 0, "abc");
	finds(needles, "abx", 0, 0, "ab");
	arena_done(&arena);
}

TEST(case_does_not_count_where_it_need_not)
{
	struct multi_match *needles = make((const char *const[]){ "pAss=", "1x", NULL }, true);

	finds(needles, "PASS=", 0, 0, "pAss=");
	finds(needles, "pass=", 0, 0, "pAss=");
	finds(needles, "Pass=", 0, 0, "pAss=");
	finds(needles, "1X", 0, 0, "1x");
	finds_none(needles, "pa ss=");
	arena_done(&arena);
}

TEST(bytes_of_any_kind_are_bytes)
{
	static const char text[] = { 'a', '\0', (char)0xff, (char)0xfe, '\0', 'b' };
	struct match_text items[] = { { .bytes = "\xff\xfe\0", .len = 3 } };
	struct multi_match *needles;
	uint64_t looks = 1000;
	size_t at = 0;

	arena_init(&arena, 1 << 20);
	needles = multi_match_new(&arena, items, 1);
	CHECK(multi_match_find(needles, text, sizeof(text), &at, &looks));
	CHECK_EQ_INT(at, 2);
	arena_done(&arena);
}

TEST(parts_are_told_at_a_cut)
{
	const struct match_text needle = { .bytes = "hunter2", .len = 7 };

	CHECK(match_text_begins(&needle, "hunt", 4));
	CHECK(!match_text_begins(&needle, "unte", 4));
	CHECK(match_text_ends(&needle, "ter2", 4));
	CHECK(!match_text_ends(&needle, "nter", 4));
}

TEST(without_memory_there_is_none)
{
	struct match_text items[] = { { .bytes = "ab", .len = 2 } };

	arena_init(&arena, 64);
	CHECK(!multi_match_new(&arena, items, 1));
	arena_done(&arena);
}
