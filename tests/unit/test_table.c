#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/table.h"
#include "tests/check.h"

static const struct table_column columns[] = {
	{ "NAME", false, false, 0 },
	{ "COUNT", true, false, 0 },
	{ "WHERE", false, false, 2 },
	{ "REASON", false, true, 1 },
};

struct printed {
	char text[1024];
};

/* Prints the sample table at a width; 0: not to a terminal. */
static struct printed print(size_t width)
{
	static const struct table_cell rows[][4] = {
		{ { "alpha", PAINT_PLAIN }, { "1", PAINT_PLAIN }, { "here", PAINT_PLAIN },
			{ "a reason that goes on for a while", PAINT_PLAIN } },
		{ { "be", PAINT_PLAIN }, { "1,234", PAINT_PLAIN }, { NULL, PAINT_PLAIN },
			{ "short", PAINT_PLAIN } },
	};
	struct printed printed = { "" };
	FILE *file = fmemopen(printed.text, sizeof(printed.text), "w");
	const struct output out = { .file = file, .width = width };
	struct arena arena;
	struct table table;

	arena_init(&arena, 1 << 16);
	table_init(&table, &arena, columns, 4);
	table_add(&table, rows[0]);
	table_add(&table, rows[1]);
	table_print(&table, &out, 0);
	(void)fclose(file);
	arena_done(&arena);
	return printed;
}

TEST(columns_are_as_wide_as_what_stands_in_them)
{
	CHECK_STR(print(0).text, "NAME   COUNT  WHERE  REASON\n"
				 "alpha      1  here   a reason that goes on for a while\n"
				 "be     1,234  -      short\n");
}

TEST(a_flexible_column_goes_on_below)
{
	CHECK_STR(print(48).text, "NAME   COUNT  WHERE  REASON\n"
				  "alpha      1  here   a reason that goes on for a\n"
				  "                     while\n"
				  "be     1,234  -      short\n");
}

TEST(the_least_important_column_is_left_out_before_that_is_unreadable)
{
	CHECK_STR(print(40).text, "NAME   COUNT  REASON\n"
				  "alpha      1  a reason that goes on for\n"
				  "              a while\n"
				  "be     1,234  short\n");
}

TEST(then_the_least_important_column_is_left_out)
{
	CHECK_STR(print(30).text, "NAME   COUNT  REASON\n"
				  "alpha      1  a reason that\n"
				  "              goes on for a\n"
				  "              while\n"
				  "be     1,234  short\n");
}

TEST(what_must_stay_stays_however_narrow_it_is)
{
	CHECK_STR(print(20).text, "NAME   COUNT\n"
				  "alpha      1\n"
				  "be     1,234\n");
}

TEST(no_line_is_wider_than_the_terminal)
{
	for (size_t width = 12; width < 80; width++) {
		struct printed printed = print(width);

		for (char *line = strtok(printed.text, "\n"); line; line = strtok(NULL, "\n"))
			CHECK(strlen(line) <= width);
	}
}
