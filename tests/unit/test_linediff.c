#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/linediff.h"
#include "proto/base/container.h"
#include "tests/check.h"

static struct err err = ERR_INIT;

static struct bytes text(const char *words)
{
	return (struct bytes){ words, strlen(words) };
}

/* The diff as "=a -b +c": each line with what became of it. */
static const char *told(struct arena *arena, const char *left, const char *right)
{
	struct line_diff diff;
	const char *all = "";

	if (line_diff(arena, text(left), text(right), &diff, &err) < 0)
		return NULL;
	for (size_t i = 0; all && i < diff.count; i++)
		all = arena_printf(arena, "%s%s%c%.*s", all, i ? " " : "",
			"=-+"[diff.lines[i].kind], (int)diff.lines[i].len, diff.lines[i].text);
	return all;
}

TEST(lines_are_the_same_gone_or_new)
{
	static const struct {
		const char *left, *right, *hoped;
	} tries[] = {
		{ "", "", "" },
		{ "a\nb\n", "a\nb\n", "=a =b" },
		{ "a\nb\n", "a\nb", "=a =b" },
		{ "", "a\n", "+a" },
		{ "a\n", "", "-a" },
		{ "a\nb\nc\n", "a\nx\nc\n", "=a -b +x =c" },
		{ "a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", NULL },
		{ "x\na\nb\n", "a\nb\nx\n", "-x =a =b +x" },
		{ "\n\n\n", "\n\n", "= = -" },
	};
	struct arena arena;

	arena_init(&arena, 1 << 24);
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		const char *found = told(&arena, tries[i].left, tries[i].right);

		CHECK(found);
		if (tries[i].hoped)
			CHECK_STR(found, tries[i].hoped);
	}
	arena_done(&arena);
}

/* The diff must contain both texts whole, in order, and with the right line numbers. */
static void check_whole(const struct line_diff *diff, struct bytes left, struct bytes right)
{
	size_t at[2] = { 0, 0 };
	size_t numbers[2] = { 0, 0 };
	const struct bytes texts[2] = { left, right };

	for (size_t i = 0; i < diff->count; i++) {
		const struct line *line = &diff->lines[i];
		const size_t hoped[2] = { line->left, line->right };

		for (size_t side = 0; side < 2; side++) {
			if (line->kind == (side ? LINE_GONE : LINE_NEW)) {
				CHECK_EQ_INT(hoped[side], 0);
				continue;
			}
			CHECK_EQ_INT(hoped[side], ++numbers[side]);
			CHECK(at[side] + line->len <= texts[side].len);
			CHECK(memcmp(texts[side].data + at[side], line->text, line->len) == 0);
			at[side] += line->len + 1;
		}
	}
	CHECK(at[0] >= left.len && at[1] >= right.len);
}

static struct bytes make(char *room, unsigned *seed, size_t lines, unsigned words)
{
	size_t len = 0;

	for (size_t i = 0; i < lines; i++) {
		*seed = *seed * 1103515245 + 12345;
		len += (size_t)snprintf(room + len, 16, "%u\n", (*seed >> 16) % words);
	}
	return (struct bytes){ room, len };
}

TEST(any_two_texts_can_be_read_out_of_their_difference)
{
	static char rooms[2][60000];
	unsigned seed = 7;

	for (unsigned i = 0; i < 300; i++) {
		struct line_diff diff;
		struct arena arena;
		struct bytes left = make(rooms[0], &seed, i % 40, 2 + i % 9);
		struct bytes right = make(rooms[1], &seed, (i * 7) % 40, 2 + i % 9);

		arena_init(&arena, 1 << 24);
		CHECK_EQ_INT(line_diff(&arena, left, right, &diff, &err), 0);
		check_whole(&diff, left, right);
		arena_done(&arena);
		CHECK(check_ok());
	}
}

TEST(texts_that_share_little_take_bounded_time)
{
	static char rooms[2][60000];
	struct line_diff diff;
	struct arena arena;
	unsigned seed = 3;
	struct bytes left = make(rooms[0], &seed, 5000, 1000000);
	struct bytes right = make(rooms[1], &seed, 5000, 1000000);

	arena_init(&arena, 1 << 26);
	CHECK_EQ_INT(line_diff(&arena, left, right, &diff, &err), 0);
	check_whole(&diff, left, right);
	CHECK_EQ_INT(diff.lines[0].kind, LINE_GONE);
	arena_done(&arena);
}

TEST(without_memory_it_fails)
{
	struct line_diff diff;

	for (size_t room = 0; room < 400; room += 16) {
		struct arena arena;

		arena_init(&arena, room);
		(void)line_diff(&arena, text("a\nb\n"), text("b\nc\n"), &diff, &err);
		arena_done(&arena);
	}
}
