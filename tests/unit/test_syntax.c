#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/syntax.h"
#include "proto/base/clock.h"
#include "tests/check.h"

static struct syntax *make(const char *language, const char *rules, struct err *err)
{
	const char *texts[] = { rules, "(ERROR) @store" };
	const size_t lens[] = { strlen(rules), strlen(texts[1]) };

	return syntax_new(language, texts, lens, err);
}

static bool parse(struct syntax *syntax, const char *code)
{
	static struct effort effort;

	effort_begin(&effort, 1000000, 10000000, NULL, NULL);
	return syntax_parse(syntax, code, strlen(code), &effort);
}

struct seen {
	unsigned count;
	struct match last;
};

static void on_match(void *context, const struct match *match)
{
	struct seen *seen = context;

	seen->count++;
	seen->last = *match;
}

struct slow {
	struct seen seen;
	struct effort effort;
};

static unsigned count_of(const char *rules, const char *code)
{
	struct seen seen = { 0 };
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", rules, &err);

	if (!syntax || !parse(syntax, code) || !syntax_run(syntax, SYNTAX_RULES, on_match, &seen))
		seen.count = 9999;
	syntax_free(syntax);
	return seen.count;
}

TEST(the_three_languages_are_built_in)
{
	static const char *const languages[] = { "python", "javascript", "bash" };

	for (size_t i = 0; i < 3; i++) {
		struct err err = ERR_INIT;
		struct syntax *syntax = make(languages[i], "(ERROR) @name", &err);

		CHECK(syntax);
		CHECK(parse(syntax, "x = 1\n"));
		syntax_free(syntax);
	}
}

TEST(a_language_that_is_not_built_in_is_an_error)
{
	struct err err = ERR_INIT;

	CHECK(!make("cobol", "(ERROR) @name", &err));
	CHECK_EQ_INT(err.code, ERR_MISSING);
}

TEST(a_query_with_a_fault_is_an_error_that_says_where)
{
	static const char *const rows[] = { "(", "(no_such_node) @name", "(identifier) @nonsense",
		"((identifier) @name (#eq? @name \"x\"))", "((identifier) @name (#any-of? @name))",
		"((identifier) @name (#any-of? @name \"a\") (#any-of? @name \"b\"))" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = ERR_INIT;

		CHECK(!make("python", rows[i], &err));
		CHECK_EQ_INT(err.code, ERR_INVALID);
	}
}

TEST(every_match_is_told_with_the_ranges_of_its_captures)
{
	struct seen seen = { 0 };
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", "(call function: (identifier) @name) @at", &err);

	CHECK(syntax);
	CHECK(parse(syntax, "x = f(1)\n"));
	CHECK(syntax_run(syntax, SYNTAX_RULES, on_match, &seen));
	CHECK_EQ_INT(seen.count, 1);
	CHECK_EQ_INT(seen.last.count, 2);
	CHECK_EQ_INT(seen.last.captures[0].what, CAPTURE_AT);
	CHECK_EQ_INT(seen.last.captures[0].at.start, 4);
	CHECK_EQ_INT(seen.last.captures[0].at.end, 8);
	CHECK_EQ_INT(seen.last.captures[1].what, CAPTURE_NAME);
	CHECK_EQ_INT(seen.last.captures[1].at.end, 5);
	syntax_free(syntax);
}

TEST(a_condition_compares_names_as_the_language_does)
{
	static const char rule[] = "((identifier) @_x (#any-of? @_x \"eval\" \"exec\"))";

	CHECK_EQ_INT(count_of(rule, "eval; exec; open"), 2);
	CHECK_EQ_INT(count_of(rule, "ｅｖａｌ"), 1);
	CHECK_EQ_INT(count_of(rule, "evaluate"), 0);
}

TEST(the_tree_of_one_program_does_not_reach_the_next)
{
	struct seen seen = { 0 };
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", "(call) @name", &err);

	CHECK(syntax);
	CHECK(parse(syntax, "f(g(h(1)))\n"));
	CHECK(parse(syntax, "x\n"));
	CHECK(syntax_run(syntax, SYNTAX_RULES, on_match, &seen));
	CHECK_EQ_INT(seen.count, 0);
	syntax_forget(syntax);
	syntax_forget(syntax);
	syntax_free(syntax);
}

static uint32_t unreadable_in(const char *code)
{
	struct findings findings;
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", "(ERROR) @name", &err);
	uint32_t count = 9999;

	if (findings_init(&findings) < 0)
		abort();
	if (syntax && parse(syntax, code)) {
		syntax_add_unreadable(syntax, &findings);
		count = findings.count;
	}
	syntax_free(syntax);
	findings_done(&findings);
	return count;
}

TEST(what_the_grammar_cannot_read_is_found)
{
	CHECK_EQ_INT(unreadable_in("x = 1\n"), 0);
	CHECK_EQ_INT(unreadable_in(""), 0);
	CHECK(unreadable_in("def f(:\n  pass\n") > 0);
	CHECK(unreadable_in("x = 'abc\n") > 0);
	CHECK(unreadable_in("print(1\n") > 0);
	CHECK(unreadable_in("$ $ $ $") > 0);
}

TEST(faults_without_number_are_told_up_to_a_ceiling)
{
	static char code[4096];

	for (size_t i = 0; i + 4 < sizeof(code); i += 4)
		memcpy(code + i, "$;\n", 4);
	CHECK(unreadable_in(code) <= 16);
}

TEST(a_parse_that_is_not_done_in_time_is_given_up)
{
	static char code[200000];
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", "(identifier) @name", &err);
	struct seen seen = { 0 };
	struct effort effort;

	CHECK(syntax);
	for (size_t i = 0; i + 2 < sizeof(code); i += 2)
		memcpy(code + i, "a+", 2);
	effort_begin(&effort, 1000000, 100, NULL, NULL);
	CHECK(!syntax_parse(syntax, code, sizeof(code) - 2, &effort));
	CHECK(parse(syntax, "x\n"));
	CHECK(syntax_run(syntax, SYNTAX_RULES, on_match, &seen));
	CHECK_EQ_INT(seen.count, 1);
	syntax_free(syntax);
}

/* Lets the deadline pass during the first match. */
static void on_match_slowly(void *context, const struct match *match)
{
	struct slow *slow = context;

	on_match(&slow->seen, match);
	while (!effort_is_spent(&slow->effort))
		;
}

TEST(a_query_that_is_not_done_in_time_is_late)
{
	static char code[4000];
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", "(identifier) @name", &err);
	struct slow slow = { 0 };

	CHECK(syntax);
	for (size_t i = 0; i + 2 < sizeof(code); i += 2)
		memcpy(code + i, "a\n", 2);
	effort_begin(&slow.effort, 1000000, 3000000, NULL, NULL);
	CHECK(syntax_parse(syntax, code, sizeof(code) - 2, &slow.effort));
	CHECK(!syntax_run(syntax, SYNTAX_RULES, on_match_slowly, &slow));
	CHECK(slow.seen.count < sizeof(code) / 4); /* it stopped in the middle of the search */
	syntax_free(syntax);
}

/* f(a, a, ... 'b') with so many names: each name stays an unfinished match until the string. */
static unsigned count_before_string(unsigned names)
{
	static char code[16384];
	size_t at = 2;

	memcpy(code, "f(", 2);
	for (unsigned i = 0; i < names; i++, at += 2)
		memcpy(code + at, "a,", 2);
	memcpy(code + at, "'b')", 5);
	return count_of("(argument_list (identifier) @name (string) @at)", code);
}

TEST(a_program_whose_matches_would_be_lost_is_late)
{
	CHECK_EQ_INT(count_before_string(100), 100);
	CHECK_EQ_INT(count_before_string(2000), 9999);
}

/* ---...a */
static unsigned count_below(size_t levels)
{
	static char code[80000];

	memset(code, '-', levels);
	memcpy(code + levels, "a", 2);
	return count_of("(identifier) @name", code);
}

TEST(a_tree_that_is_deeper_than_queries_can_count_is_late)
{
	CHECK_EQ_INT(count_below(50000), 1);
	CHECK_EQ_INT(count_below(60000), 9999);
	CHECK_EQ_INT(count_below(66000), 9999);
}

static size_t taken(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

TEST(what_a_program_took_goes_with_it)
{
	static char code[5000];
	struct err err = ERR_INIT;
	struct syntax *syntax = make("python", "(call) @name", &err);
	size_t before = 0;

	CHECK(syntax);
	for (size_t i = 0; i + 5 < sizeof(code); i += 5)
		memcpy(code + i, "f(x)\n", 5);
	/* A leak would come with each program; what the parser keeps for the next one grows once. */
	for (int i = 0; i < 60; i++) {
		struct seen seen = { 0 };

		CHECK(parse(syntax, code));
		CHECK(syntax_run(syntax, SYNTAX_RULES, on_match, &seen));
		CHECK(seen.count > 900);
		syntax_forget(syntax);
		if (i == 9)
			before = taken();
	}
	CHECK(taken() < before + 50 * sizeof(void *));
	syntax_free(syntax);
}
