#include <string.h>

#include "cli/base/options.h"
#include "tests/check.h"

static const struct option_row rows[] = {
	{ 'f', "fast", NULL, OPTION_FLAG, NULL, NULL, "be quick" },
	{ 'n', "name", "NAME", OPTION_TEXT, NULL, NULL,
		"a name that is told at such length that it does not fit on one line" },
	{ 0, "limit", "K=V", OPTION_LIST, NULL, NULL, "a limit" },
	{ 0, "since", "TIME", OPTION_ONCE, NULL, NULL, "a filter" },
	{ 0 },
};

static const struct example examples[] = { { "cectl sample a", "the letter a" }, { NULL, NULL } };

static const struct command command = {
	.name = "sample",
	.operands = "[FILE]",
	.summary = "a sample",
	.about = "Tells nothing.",
	.options = rows,
	.operand_most = 1,
	.takes_rest = true,
	.examples = examples,
};

/* One parse with all its results. */
struct trial {
	struct arena arena;
	struct parsed parsed;
	struct err err;
	int status;
};

static void try_words(struct trial *trial, const char *const *words)
{
	char *argv[16];
	int argc = 0;

	memset(trial, 0, sizeof(*trial));
	arena_init(&trial->arena, 1 << 20);
	for (; words[argc]; argc++)
		argv[argc] = arena_strdup(&trial->arena, words[argc]);
	trial->status =
		options_parse(&command, &trial->arena, argc, argv, &trial->parsed, &trial->err);
}

#define TRY(trial, ...) try_words((trial), (const char *const[]){ __VA_ARGS__, NULL })

TEST(options_may_stand_before_and_behind_operands)
{
	struct trial trial;

	TRY(&trial, "-f", "file.py", "--name", "x", "--json");
	CHECK_EQ_INT(trial.status, 0);
	CHECK(parsed_flag(&trial.parsed, "fast"));
	CHECK(trial.parsed.common.json);
	CHECK_STR(parsed_text(&trial.parsed, "name"), "x");
	CHECK_EQ_INT(trial.parsed.operands.count, 1);
	CHECK_STR(trial.parsed.operands.items[0], "file.py");
	arena_done(&trial.arena);
}

TEST(a_value_may_be_attached_in_both_forms)
{
	struct trial trial;

	TRY(&trial, "--name=a=b", "--limit=x=1");
	CHECK_STR(parsed_text(&trial.parsed, "name"), "a=b");
	CHECK_STR(parsed_words(&trial.parsed, "limit")->items[0], "x=1");
	arena_done(&trial.arena);
	TRY(&trial, "-nvalue");
	CHECK_STR(parsed_text(&trial.parsed, "name"), "value");
	arena_done(&trial.arena);
}

TEST(a_list_keeps_every_value_in_order_and_a_text_the_last)
{
	struct trial trial;

	TRY(&trial, "--limit", "a=1", "--limit", "b=2", "-n", "one", "-n", "two");
	CHECK_EQ_INT(parsed_words(&trial.parsed, "limit")->count, 2);
	CHECK_STR(parsed_words(&trial.parsed, "limit")->items[1], "b=2");
	CHECK_STR(parsed_text(&trial.parsed, "name"), "two");
	arena_done(&trial.arena);
}

TEST(what_can_be_meant_once_is_refused_the_second_time)
{
	struct trial trial;

	TRY(&trial, "--since", "1h");
	CHECK_STR(parsed_text(&trial.parsed, "since"), "1h");
	arena_done(&trial.arena);
	TRY(&trial, "--since", "1h", "--since=2h");
	CHECK_EQ_INT(trial.status, -1);
	CHECK_STR(trial.err.text, "--since is given twice");
	arena_done(&trial.arena);
}

TEST(words_behind_two_dashes_are_not_looked_at)
{
	struct trial trial;

	TRY(&trial, "file.py", "--", "--name", "-x", "--");
	CHECK_EQ_INT(trial.status, 0);
	CHECK(trial.parsed.has_rest);
	CHECK_EQ_INT(trial.parsed.rest.count, 3);
	CHECK_STR(trial.parsed.rest.items[0], "--name");
	CHECK_STR(trial.parsed.rest.items[2], "--");
	CHECK(parsed_text(&trial.parsed, "name") == NULL);
	arena_done(&trial.arena);
}

TEST(a_single_dash_is_an_operand)
{
	struct trial trial;

	TRY(&trial, "-");
	CHECK_STR(trial.parsed.operands.items[0], "-");
	arena_done(&trial.arena);
}

TEST(a_misspelt_option_is_refused_by_name_with_a_guess)
{
	struct trial trial;

	TRY(&trial, "--nam", "x");
	CHECK_EQ_INT(trial.status, -1);
	CHECK_STR(trial.err.text, "there is no option --nam; did you mean --name?");
	arena_done(&trial.arena);
	TRY(&trial, "--zzz");
	CHECK_STR(trial.err.text, "there is no option --zzz");
	arena_done(&trial.arena);
	TRY(&trial, "-z");
	CHECK_STR(trial.err.text, "there is no option -z");
	arena_done(&trial.arena);
}

TEST(a_missing_value_is_refused_by_name)
{
	struct trial trial;

	TRY(&trial, "--limit");
	CHECK_STR(trial.err.text, "--limit needs a value: K=V");
	arena_done(&trial.arena);
	TRY(&trial, "--fast=yes");
	CHECK_STR(trial.err.text, "--fast takes no value");
	arena_done(&trial.arena);
}

TEST(one_operand_too_many_is_named_and_told_where_to_go)
{
	struct trial trial;

	TRY(&trial, "a.py", "b");
	CHECK_STR(trial.err.text,
		"\"b\" is one word too many; the program's own arguments go behind --");
	arena_done(&trial.arena);
}

TEST(the_front_stops_at_the_name_of_the_command)
{
	struct common_options common = { .json = false };
	char json[] = "--json";
	char socket[] = "--socket=/x";
	char run[] = "run";
	char *argv[] = { json, socket, run, json };

	CHECK_EQ_INT(options_parse_front(4, argv, &common, NULL), 2);
	CHECK(common.json);
	CHECK_STR(common.socket, "/x");
}

TEST(help_is_made_from_the_table_and_wrapped)
{
	struct buf page;

	buf_init(&page, 1 << 16);
	CHECK_EQ_INT(options_help(&command, 60, &page), 0);
	CHECK_EQ_INT(buf_append_byte(&page, 0), 0);
	CHECK(strstr(page.bytes, "Usage: cectl sample [OPTION]... [FILE]\n"));
	CHECK(strstr(page.bytes, "\n  -f, --fast              be quick\n"));
	CHECK(strstr(page.bytes, "\n      --limit K=V         a limit\n"));
	CHECK(strstr(page.bytes, "\n  cectl sample a\n      the letter a\n"));
	CHECK(!strstr(page.bytes, "--store")); /* only for commands that can read a copy */
	for (char *line = strtok(page.bytes, "\n"); line; line = strtok(NULL, "\n"))
		CHECK(strlen(line) <= 60);
	buf_done(&page);
}
