#include <stdlib.h>
#include <string.h>

#include "daemon/inspector/bytes_check.h"
#include "tests/check.h"

/* Returns the first finding in these bytes, or INSPECT_BUILTIN_COUNT if there is none. */
static uint32_t first_of(const char *bytes, size_t len, bool *ret_readable)
{
	struct inspect_findings report;
	uint32_t rule = INSPECT_BUILTIN_COUNT;
	struct findings findings;

	if (findings_init(&findings) < 0)
		abort();
	*ret_readable = bytes_check(bytes, len, &findings);
	report = findings_report(&findings, bytes, len);
	if (report.count > 0)
		rule = report.findings[0].rule;
	findings_done(&findings);
	return rule;
}

#define CHECK_BYTES(bytes, hoped, hoped_readable)                                        \
	do {                                                                             \
		bool readable_;                                                          \
		CHECK_EQ_INT(first_of((bytes), sizeof(bytes) - 1, &readable_), (hoped)); \
		CHECK_EQ_INT(readable_, (hoped_readable));                               \
	} while (0)

TEST(ordinary_text_has_nothing_to_find)
{
	CHECK_BYTES("", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("print('größe')\r\n\tx = 1\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("\xef\xbb\xbfprint(1)", INSPECT_BUILTIN_COUNT, true);
}

TEST(a_nul_is_found_wherever_it_stands)
{
	CHECK_BYTES("\0", INSPECT_BYTES_NUL, false);
	CHECK_BYTES("x = 1\n# \0", INSPECT_BYTES_NUL, false);
}

TEST(a_carriage_return_needs_its_newline)
{
	CHECK_BYTES("# x\rimport os\n", INSPECT_BYTES_CR, false);
	CHECK_BYTES("x\r", INSPECT_BYTES_CR, false);
	CHECK_BYTES("x\r\r\n", INSPECT_BYTES_CR, false);
	CHECK_BYTES("x\r\ny\r\n", INSPECT_BUILTIN_COUNT, true);
}

TEST(what_is_not_utf8_is_found)
{
	CHECK_BYTES("\xff", INSPECT_BYTES_UTF8, false);
	CHECK_BYTES("a\xc0\xaf", INSPECT_BYTES_UTF8, false);
	CHECK_BYTES("a\xed\xa0\x80", INSPECT_BYTES_UTF8, false);
	CHECK_BYTES("a\xe2\x82", INSPECT_BYTES_UTF8, false);
}

TEST(only_encodings_that_we_read_alike_may_be_declared)
{
	CHECK_BYTES("# coding: utf-7\n", INSPECT_BYTES_COOKIE, false);
	CHECK_BYTES("#coding=latin-1\n", INSPECT_BYTES_COOKIE, false);
	CHECK_BYTES("#!/x\n#\f coding:\traw_unicode_escape\n", INSPECT_BYTES_COOKIE, false);
	CHECK_BYTES(" \t# vim: fileencoding=cp1252 :\n", INSPECT_BYTES_COOKIE, false);
	CHECK_BYTES("\n# coding: big5", INSPECT_BYTES_COOKIE, false);
	CHECK_BYTES("# coding: UTF-8\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# coding: utf_8\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# coding: us-ascii\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# coding: utf-8-unix\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# encoding of things\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("x = 1\n# coding: utf-7\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("\n\n# coding: utf-7\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# coding: utf-8\n# coding: utf-7\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# coding:\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# coding", INSPECT_BUILTIN_COUNT, true);
}

TEST(a_form_feed_behind_blanks_of_a_line_with_text_is_found)
{
	CHECK_BYTES("if x:\n    \fy\n", INSPECT_BYTES_FORM_FEED, true);
	CHECK_BYTES("\f\nx\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("\fx\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("  \f\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("x = '\f'\n", INSPECT_BUILTIN_COUNT, true);
}

TEST(characters_that_turn_the_order_of_text_are_found)
{
	CHECK_BYTES("x = '\xe2\x80\xae'\n", INSPECT_BYTES_BIDI, true);
	CHECK_BYTES("x = '\xe2\x81\xa6'\n", INSPECT_BYTES_BIDI, true);
	CHECK_BYTES("x = '\xe2\x80\x94'\n", INSPECT_BUILTIN_COUNT, true);
	CHECK_BYTES("# \xe2\x81\xa9", INSPECT_BYTES_BIDI, true);
}

TEST(brackets_count_outside_of_strings_and_comments)
{
	char text[1024];
	bool readable;

	memset(text, '(', sizeof(text));
	CHECK_EQ_INT(first_of(text, BYTES_DEPTH_MAX + 1, &readable), INSPECT_BYTES_DEPTH);
	CHECK(!readable);
	CHECK_EQ_INT(first_of(text, BYTES_DEPTH_MAX, &readable), INSPECT_BUILTIN_COUNT);
	text[0] = '#';
	CHECK_EQ_INT(first_of(text, sizeof(text), &readable), INSPECT_BUILTIN_COUNT);
	memset(text, '"', 3);
	CHECK_EQ_INT(first_of(text, sizeof(text), &readable), INSPECT_BUILTIN_COUNT);
	text[1] = '\\';
	CHECK_EQ_INT(first_of(text, sizeof(text), &readable), INSPECT_BUILTIN_COUNT);
	text[1] = '"';
	text[2] = ' ';
	CHECK_EQ_INT(first_of(text, sizeof(text), &readable), INSPECT_BYTES_DEPTH);
}

TEST(brackets_that_close_do_not_add_up)
{
	char text[4096];
	bool readable;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? ')' : '(';
	CHECK_EQ_INT(first_of(text, sizeof(text), &readable), INSPECT_BUILTIN_COUNT);
}

TEST(a_program_past_the_ceiling_is_not_read)
{
	char *text = calloc(1, INSPECT_CODE_MAX + 1);
	bool readable;

	CHECK(text);
	memset(text, ' ', INSPECT_CODE_MAX + 1);
	CHECK_EQ_INT(first_of(text, INSPECT_CODE_MAX, &readable), INSPECT_BUILTIN_COUNT);
	CHECK_EQ_INT(first_of(text, INSPECT_CODE_MAX + 1, &readable), INSPECT_BYTES_SIZE);
	CHECK(!readable);
	free(text);
}

TEST(places_are_told_in_lines_and_characters)
{
	static const char text[] = "größe\nüü\0";
	struct inspect_findings report;
	struct findings findings;

	CHECK_EQ_INT(findings_init(&findings), 0);
	(void)bytes_check(text, sizeof(text) - 1, &findings);
	report = findings_report(&findings, text, sizeof(text) - 1);
	CHECK_EQ_INT(report.count, 1);
	CHECK_EQ_INT(report.findings[0].line, 2);
	CHECK_EQ_INT(report.findings[0].column, 3);
	findings_done(&findings);
}

TEST(more_findings_than_can_be_told_are_cut_and_said_to_be)
{
	static char text[FINDINGS_MAX * 2];
	struct inspect_findings report;
	struct findings findings;

	memset(text, 'x', sizeof(text));
	CHECK_EQ_INT(findings_init(&findings), 0);
	for (uint32_t i = 0; i < FINDINGS_MAX + 1; i++)
		findings_add(&findings, 1, WEIGHT_DENY, FINDINGS_MAX - (i % FINDINGS_MAX),
			FINDINGS_MAX + 1);
	report = findings_report(&findings, text, sizeof(text));
	CHECK_EQ_INT(report.count, INSPECT_FINDINGS_MAX);
	CHECK(report.cut);
	CHECK_EQ_INT(report.findings[0].column, 2);
	CHECK_EQ_INT(report.findings[0].text_len, INSPECT_TEXT_MAX);
	findings_done(&findings);
}

TEST(of_several_rules_at_one_place_the_first_is_told)
{
	struct inspect_findings report;
	struct findings findings;

	CHECK_EQ_INT(findings_init(&findings), 0);
	findings_add(&findings, 7, WEIGHT_DENY, 0, 4);
	findings_add(&findings, 3, WEIGHT_DENY, 0, 4);
	findings_add(&findings, 5, WEIGHT_DENY, 0, 3);
	report = findings_report(&findings, "eval\n", 5);
	CHECK_EQ_INT(report.count, 2);
	CHECK_EQ_INT(report.findings[0].rule, 5);
	CHECK_EQ_INT(report.findings[1].rule, 3);
	findings_done(&findings);
}

static bool joins(const char *text)
{
	return bytes_join_lines(text, strlen(text));
}

TEST(a_line_end_outside_of_everything_joins_lines)
{
	CHECK(joins("a, b = f, 1\n[q]"));
	CHECK(joins("x = ')'\n(y)"));
	CHECK(joins("x # (\n(y)"));
	CHECK(joins(")\n("));
}

TEST(a_line_end_inside_of_something_does_not)
{
	CHECK(!joins(""));
	CHECK(!joins("x = 1"));
	CHECK(!joins("x = (1,\n2)"));
	CHECK(!joins("x = [\n{\n}\n]"));
	CHECK(!joins("x = '''\n'''"));
	CHECK(!joins("x = \\\n1"));
	CHECK(!joins("x = \\\r\n1"));
	CHECK(!joins("\\"));
}
