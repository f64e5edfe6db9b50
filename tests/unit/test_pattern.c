#include <string.h>

#include "proto/schema/pattern.h"
#include "tests/arena.h"
#include "tests/check.h"
#include "tests/fault.h"

#define WORK_OF_A_THREAD 4000000U
#define WORK             1000000U

/* -1: the pattern does not compile. */
static int search(const char *pattern_text, const char *text, size_t len, uint64_t *work)
{
	WITH_ARENA(arena);
	const struct pattern *pattern = NULL;
	struct err err = ERR_INIT;

	if (pattern_compile(arena, pattern_text, strlen(pattern_text), &pattern, &err) < 0)
		return -1;
	return (int)pattern_search(pattern, text, len, work);
}

static int look(const char *pattern_text, const char *text)
{
	uint64_t work = WORK;

	return search(pattern_text, text, strlen(text), &work);
}

TEST(a_pattern_is_searched_for_anywhere)
{
	CHECK_EQ_INT(look("b+", "aabbc"), PATTERN_YES);
	CHECK_EQ_INT(look("^b+", "aabbc"), PATTERN_NO);
	CHECK_EQ_INT(look("", ""), PATTERN_YES);
}

TEST(the_dialect_is_that_of_ecmascript)
{
	CHECK_EQ_INT(look("^a$", "a\n"), PATTERN_NO);
	CHECK_EQ_INT(look("[]", "a"), PATTERN_NO);
	CHECK_EQ_INT(look("[^]", "\n"), PATTERN_YES);
	CHECK_EQ_INT(look("^\\u0041\\u{1F600}$", "A\xf0\x9f\x98\x80"), PATTERN_YES);
	CHECK_EQ_INT(look("^\\d$", "\xd9\xa3"), PATTERN_NO);
	CHECK_EQ_INT(look("^.$", "\r"), PATTERN_NO);
	CHECK_EQ_INT(look("^\\cI[\\cj]$", "\t\n"), PATTERN_YES);
	CHECK_EQ_INT(look("^(a)?\\1b$", "b"), PATTERN_YES);
	CHECK_EQ_INT(look("^\\v[\\v]$", "\v\v"), PATTERN_YES);
	CHECK_EQ_INT(look("[\\v]|\\v", "\n\r\xe2\x80\xa8"), PATTERN_NO);
	CHECK_EQ_INT(look("^[\\W\\p{Lu}]$", "\xce\x91"), PATTERN_YES);
	CHECK_EQ_INT(look("^(?=.*\\d)(?!.*x)[a-z\\d]{3,}$", "ab1"), PATTERN_YES);
}

TEST(what_is_no_pattern_is_refused_with_its_place)
{
	WITH_ARENA(arena);
	const struct pattern *pattern = NULL;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(pattern_compile(arena, "ab(c", 4, &pattern, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
	CHECK_STR(err.text, "at byte 4: missing closing parenthesis");
	CHECK_EQ_INT(look("a{2,1}", "a"), -1);
	CHECK_EQ_INT(pattern_compile(arena, "ab\\X", 4, &pattern, &err), -1);
	CHECK_STR(err.text, "at byte 2: ECMAScript has no \\X");
	CHECK_EQ_INT(pattern_compile(arena, "a(?>b)", 6, &pattern, &err), -1);
	CHECK_STR(err.text, "at byte 1: ECMAScript has no (?>");
	CHECK_EQ_INT(pattern_compile(arena, "a*+", 3, &pattern, &err), -1);
	CHECK_STR(err.text, "at byte 2: ECMAScript has no + after a quantifier");
	CHECK_EQ_INT(pattern_compile(arena, "a[^\\W\\p{Lu}]", 12, &pattern, &err), -1);
	CHECK_STR(err.text,
		"at byte 5: \\W, \\S or \\D beside \\p in a class that begins with ^ is not supported");
	CHECK_EQ_INT(look("[^\\P{Lu}x\\S]", "a"), -1);
	CHECK_EQ_INT(look("[^\\W][\\p{Lu}][^\\p{L}\\d]", "_A-"), PATTERN_YES);
	CHECK_EQ_INT(look("\\C", "a"), -1);
	CHECK_EQ_INT(look("(*UCP)a", "a"), -1);
	CHECK_EQ_INT(look("(*NO_START_OPT)a", "a"), -1);
}

/* Each of these is something for PCRE2: some of it cannot be counted, such as \X. */
TEST(what_ecmascript_does_not_have_is_refused)
{
	static const char *const patterns[] = { "\\c[(?R)", "\\c[(*sr:a)", "\\c\\X", "\\c\\\\X",
		"[\\c\\](?R)", "[\\c]]", "[^\\c\\](*sr:[^!]+)", "\\c", "\\c1", "\\X",
		"a\\X{1000}[!?]", "\\C", "\\R", "\\h", "\\H", "\\N", "\\K", "\\G", "\\A", "\\Z",
		"\\z", "\\a", "\\e", "\\E", "\\Qa\\E", "\\g1", "\\g{1}", "\\g<1>", "\\k{n}",
		"\\k'n'", "\\o{101}", "\\V", "\\L", "\\U", "[\\X]", "[\\h]", "[\\B]", "[\\N]",
		"[\\k]", "(?>a)", "(?|a)", "(?R)", "(?0)", "(a)(?1)", "(a)(?-1)", "(?<n>a)(?&n)",
		"(?P<n>a)", "(?P>n)", "(?'n'a)", "(?(?=a)b)", "(a)(?(1)b)", "(?C)", "(?C1)a",
		"(?#a)", "(?i)a", "(?x:a b)", "(?^:a)", "(?*a)", "(?<*a)", "(*SKIP)", "a(*ACCEPT)",
		"a(*F)", "(*pla:a)", "(*COMMIT)b", "a*+", "a++", "a?+", "a{2}+", "a{2,}+",
		"a{2,3}+", "[a]*+", "(a)*+", "\\d*+", "[[:alpha:]\\X]", "[]\\X", "[^]\\X",
		"[a\\]b]\\X", "\\\\\\X", "\\u{41}\\X", "\\u{(?R)}", "\\07", "\\00", "[\\00-9]",
		"\\x4", "\\x", "\\u00", "\\u", "\\u{}", "\\u{zz}", "\\u{41", "\\u{1,3}",
		"[\\u{zz}]", "[\\1]", "\\12", "\\18", "(a)\\10", "(?<=a)(?:b)(?<n>c)\\11" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (look(patterns[i], "a") != -1)
			CHECK_STR(patterns[i], "refused");
}

TEST(what_ecmascript_has_is_understood)
{
	static const struct {
		const char *pattern, *text;
	} rows[] = {
		{ "^\\u{41}+$", "AAA" },
		{ "^\\u0041+$", "AAA" },
		{ "^\\x41+\\cJ?$", "AA" },
		{ "^\\++$", "++" },
		{ "^[+*?]+$", "+*?" },
		{ "^(?:a)(?=b)(?!c)b$", "ab" },
		{ "(?<=a)b(?<!c)", "ab" },
		{ "^(?<year>\\d{4})-\\k<year>$", "2024-2024" },
		{ "^(?i:A)b$", "ab" },
		{ "^(?i-s:A)b$", "ab" },
		{ "^a*?b+?c??d{2,3}?$", "aabbcdd" },
		{ "^\\p{L}\\p{Lu}\\P{N}[\\p{Greek}\\b]$", "aAaα" },
		{ "^[[]\\(\\?>\\*\\)$", "[(?>*)" },
		{ "^[(?>]{4}\\.\\-\\/$", "(?>(.-/" },
		{ "^\\d\\D\\s\\S\\w\\W\\b\\0?\\t?\\n?\\r?\\f?a", "1a ab a" },
		{ "^a\\Bb$", "ab" },
		{ "^(a)(?<n>b)(c)(d)(e)(f)(g)(h)(i)(j)\\10\\2[\\0\\x41]$", "abcdefghijjbA" },
		{ "^{a}$", "{a}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (look(rows[i].pattern, rows[i].text) != PATTERN_YES)
			CHECK_STR(rows[i].pattern, "understood");
}

TEST(a_long_pattern_is_refused)
{
	WITH_ARENA(arena);
	const struct pattern *pattern = NULL;
	struct err err = ERR_INIT;
	char text[PATTERN_LEN_MAX + 1];

	memset(text, 'a', sizeof(text));
	CHECK_EQ_INT(pattern_compile(arena, text, PATTERN_LEN_MAX, &pattern, &err), 0);
	CHECK_EQ_INT(pattern_compile(arena, text, sizeof(text), &pattern, &err), -1);
	CHECK_EQ_INT(err.code, ERR_INVALID);
}

TEST(a_pattern_that_multiplies_itself_is_refused)
{
	CHECK_EQ_INT(look("((((a{100}){100}){100}){100})", "a"), -1);
}

TEST(u_0000_is_a_character_like_others)
{
	uint64_t work = WORK;

	CHECK_EQ_INT(search("^a.b$", "a\0b", 3, &work), PATTERN_YES);
}

TEST(exponential_patterns_give_up)
{
	CHECK_EQ_INT(look("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), PATTERN_GAVE_UP);
	CHECK_EQ_INT(
		look("^(a|aa)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), PATTERN_GAVE_UP);
	CHECK_EQ_INT(
		look("^(([a-z])+.)+[A-Z]([a-z])+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		PATTERN_GAVE_UP);
}

/* Each of these patterns takes quadratic time that PCRE2's own limits do not count. */
TEST(quadratic_patterns_give_up)
{
	static const char *const patterns[] = { "a*[bc]", "a{60000}[bc]", "(?:a{1000}){3}[bc]",
		"(a*)\\1[bc]", "(?=a*[bc])", "(?=[^\\n]*a{9000,}[bc]).", "(?<=a{60000})a[bc]",
		"(?<=a{60000}|a{60001})a" };
	static char text[200000];
	uint64_t work;

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		work = WORK;
		CHECK_EQ_INT(search(patterns[i], text, sizeof(text), &work), PATTERN_GAVE_UP);
		CHECK_EQ_INT(work, 0);
	}
}

/* The same in Perl's dialect, with items that ECMAScript does not have. */
TEST(quadratic_patterns_of_bytes_give_up)
{
	static const char *const patterns[] = { "(?>a*)[bc]", "a*+[bc]" };
	static char text[200000];

	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		WITH_ARENA(arena);
		const struct pattern *pattern = NULL;
		struct pattern_span span = { sizeof(text), 0 };
		struct err err = ERR_INIT;
		uint64_t work = WORK;

		CHECK_EQ_INT(pattern_compile_bytes(
				     arena, patterns[i], strlen(patterns[i]), &pattern, &err),
			0);
		CHECK_EQ_INT(pattern_in_bytes(
				     pattern, text, sizeof(text), PATTERN_ANYWHERE, &span, &work),
			PATTERN_GAVE_UP);
		CHECK_EQ_INT(work, 0);
	}
}

/* For each character PCRE2 keeps where it may go back to, with all groups. */
TEST(what_a_search_keeps_is_work)
{
	static const char pattern[] = "^()()()()()()()()()()()()()()()(?:a|b)*$";
	static char text[8001];
	uint64_t work = WORK_OF_A_THREAD;

	memset(text, 'a', sizeof(text));
	CHECK_EQ_INT(search(pattern, text, sizeof(text), &work), PATTERN_YES);
	CHECK(WORK_OF_A_THREAD - work > 200000);
	work = 200000;
	CHECK_EQ_INT(search(pattern, text, sizeof(text), &work), PATTERN_GAVE_UP);
	work = 200000;
	CHECK_EQ_INT(search(pattern, text, 5, &work), PATTERN_YES);
	CHECK(work > 200000 - 2000);
}

/* PCRE2 reads all of a text before it searches: that is its UTF-8 check. */
TEST(reading_a_long_text_is_work)
{
	static char text[32000];
	uint64_t work = WORK;

	memset(text, 'a', sizeof(text));
	CHECK_EQ_INT(search("b", text, sizeof(text), &work), PATTERN_NO);
	CHECK(work <= WORK - sizeof(text) / 64);
}

/* A back reference passes much of the text and then fails. */
TEST(what_a_back_reference_passes_is_work)
{
	static char text[4096];
	uint64_t work = WORK;

	memset(text, 'a', sizeof(text));
	text[1999] = 'b';
	CHECK_EQ_INT(search("^(a{1000})\\1", text, sizeof(text), &work), PATTERN_NO);
	CHECK(work <= WORK - sizeof(text) / 64 - 2000 / 16 - 1000 / 16);
}

TEST(innocent_patterns_find_their_way_through_long_texts)
{
	static char text[1000000];
	uint64_t work = WORK;

	memset(text, ' ', sizeof(text));
	memcpy(text + sizeof(text) - 20, "AKIAABCDEFGHIJKLMNOP", 20);
	CHECK_EQ_INT(search("AKIA[0-9A-Z]{16}", text, sizeof(text), &work), PATTERN_YES);
	CHECK(work > WORK / 2);
}

TEST(work_is_taken_from_the_budget)
{
	uint64_t work = WORK, before = work;

	CHECK_EQ_INT(search("^[a-z]{1,32}$", "python", 6, &work), PATTERN_YES);
	CHECK(work < before && work > before - 100);
	work = 2;
	CHECK_EQ_INT(search("^[a-z]{1,32}$", "python", 6, &work), PATTERN_GAVE_UP);
	CHECK_EQ_INT(work, 0);
}

TEST(a_find_says_where)
{
	WITH_ARENA(arena);
	const struct pattern *pattern = NULL;
	struct err err = ERR_INIT;
	uint64_t work = WORK;
	struct pattern_span span = { 0, 0 };

	CHECK_EQ_INT(pattern_compile(arena, "b+", 2, &pattern, &err), 0);
	CHECK_EQ_INT(pattern_find(pattern, "abbab", 5, &span, &work), PATTERN_YES);
	CHECK_EQ_INT(span.start, 1);
	CHECK_EQ_INT(span.end, 3);
	CHECK_EQ_INT(pattern_find(pattern, "abbab", 5, &span, &work), PATTERN_YES);
	CHECK_EQ_INT(span.start, 4);
	CHECK_EQ_INT(pattern_find(pattern, "abbab", 5, &span, &work), PATTERN_NO);
	CHECK_EQ_INT(span.start, 4);
	CHECK(pattern_size(pattern) > 0);
}

TEST(no_memory_is_an_error_and_leaves_nothing_behind)
{
	FAULT_LOOP(FAULT_ALLOC) {
		WITH_ARENA(arena);
		const struct pattern *pattern = NULL;
		struct err err = ERR_INIT;
		uint64_t work = WORK;
		int r = pattern_compile(arena, "(a|b)+c", 7, &pattern, &err);

		CHECK(r == 0 || (fault_hit() && err.code == ERR_MEMORY));
		if (r == 0) {
			enum pattern_answer answer = pattern_search(pattern, "abc", 3, &work);

			CHECK(answer == PATTERN_YES ||
				(fault_hit() && answer == PATTERN_NO_MEMORY));
		}
	}
}
