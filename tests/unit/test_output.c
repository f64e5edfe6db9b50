#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/session/page.h"
#include "cli/terminal/output.h"
#include "tests/check.h"

static struct output pipe_output(void)
{
	struct output out;

	output_init(&out, tmpfile());
	return out;
}

static void read_back(const struct output *out, char *text, size_t size)
{
	(void)fflush(out->file);
	rewind(out->file);
	text[fread(text, 1, size - 1, out->file)] = '\0';
	(void)fclose(out->file);
}

TEST(colour_stays_off_without_a_terminal)
{
	struct output out = pipe_output();
	char text[64];

	CHECK(!out.terminal);
	say(&out, PAINT_RED, "red %d", 1);
	read_back(&out, text, sizeof(text));
	CHECK_STR(text, "red 1");
}

TEST(without_a_terminal_nothing_is_cut_unless_columns_are_asked_for)
{
	struct output out;

	(void)unsetenv("COLUMNS");
	output_init(&out, stderr);
	CHECK(out.terminal || out.width == 0);
	(void)setenv("COLUMNS", "57", 1);
	output_init(&out, stderr);
	CHECK_EQ_INT(out.width, 57);
	(void)setenv("COLUMNS", "nonsense", 1);
	output_init(&out, stderr);
	CHECK(out.terminal || out.width == 0);
	(void)unsetenv("COLUMNS");
}

TEST(drawings_are_ascii_unless_the_locale_says_utf8)
{
	struct output out;

	(void)setenv("LC_ALL", "C", 1);
	output_init(&out, stderr);
	CHECK_STR(output_mark(&out, MARK_GOOD), "+");
	(void)setenv("LC_ALL", "de_DE.UTF-8", 1);
	output_init(&out, stderr);
	CHECK_STR(output_mark(&out, MARK_GOOD), "\u2713");
	(void)unsetenv("LC_ALL");
}

TEST(a_document_is_one_line_in_a_pipe_with_bytes_as_base64)
{
	struct output out = pipe_output();
	struct arena arena;
	struct value *map;
	char text[256];

	arena_init(&arena, 1 << 16);
	map = value_map(&arena);
	CHECK_EQ_INT(value_map_put(&arena, map, "text", value_text(&arena, "\xe2\x80\xae")), 0);
	CHECK_EQ_INT(value_map_put(&arena, map, "bytes", value_bytes(&arena, "\xff", 1)), 0);
	CHECK_EQ_INT(output_document(&out, map, NULL), 0);
	read_back(&out, text, sizeof(text));
	CHECK_STR(text, "{\"text\":\"\\u202e\",\"bytes\":{\"base64\":\"/w==\"}}\n");
	arena_done(&arena);
}

TEST(a_value_of_any_kind_is_one_safe_line)
{
	struct arena arena;
	struct value *list;

	arena_init(&arena, 1 << 16);
	list = value_list(&arena);
	CHECK_EQ_INT(value_list_add(&arena, list, value_int(&arena, 7)), 0);
	CHECK_STR(output_text(&arena, NULL), "");
	CHECK_STR(output_text(&arena, value_nil(&arena)), "");
	CHECK_STR(output_text(&arena, value_text(&arena, "a\nb\033[m")), "a\\nb\\x1b[m");
	CHECK_STR(output_text(&arena, value_bytes(&arena, "\xff", 1)), "\\xff");
	CHECK_STR(output_text(&arena, list), "[7]");
	arena_done(&arena);
}

TEST(a_number_is_shown_in_the_unit_that_its_name_ends_with)
{
	struct cli cli = { 0 };

	arena_init(&cli.arena, 1 << 16);
	CHECK_STR(page_number(&cli, "wall_ms", value_int(&cli.arena, 2500)), "2.50 s");
	CHECK_STR(page_number(&cli, "kill_us", value_int(&cli.arena, 41)), "41 us");
	CHECK_STR(page_number(&cli, "memory_bytes", value_int(&cli.arena, 64 << 20)), "64 MiB");
	CHECK_STR(page_number(&cli, "pids", value_int(&cli.arena, 1234)), "1,234");
	CHECK_STR(page_number(&cli, "wall_ms", value_int(&cli.arena, INT64_MAX)),
		"9223372036854775807_ms");
	CHECK_STR(page_name(&cli, "memory_peak_bytes"), "memory peak");
	arena_done(&cli.arena);
}
