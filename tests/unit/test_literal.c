#include <string.h>

#include "daemon/inspector/literal.h"
#include "tests/check.h"

static const char *read_as(const char *text)
{
	static struct name name;

	literal_read(text, strlen(text), &name);
	for (size_t i = 0; i < name.len; i++)
		if (name.text[i] == LITERAL_HOLE)
			name.text[i] = '?';
	return name.text;
}

TEST(strings_say_what_is_between_their_quotes)
{
	CHECK_STR(read_as("'abc'"), "abc");
	CHECK_STR(read_as("\"a'b\""), "a'b");
	CHECK_STR(read_as("`abc`"), "abc");
	CHECK_STR(read_as("'''a'b'''"), "a'b");
	CHECK_STR(read_as("''"), "");
	CHECK_STR(read_as("'abc"), "abc");
}

TEST(escapes_are_undone)
{
	CHECK_STR(read_as("'\\x61\\u0062\\u{63}\\144'"), "abcd");
	CHECK_STR(read_as("'a\\\nb'"), "ab");
	CHECK_STR(read_as("'\\q\\''"), "q'");
	CHECK_STR(read_as("r'\\x61'"), "\\x61");
	CHECK(strcmp(read_as("'a\\nb'"), "anb") != 0);
}

TEST(pieces_are_joined)
{
	CHECK_STR(read_as("'con' + \"stru\" + `ctor`"), "constructor");
	CHECK_STR(read_as("('con' +\n ('structor'))"), "constructor");
	CHECK_STR(read_as("'con' 'structor'"), "constructor");
	CHECK_STR(read_as("b'con' r'structor'"), "constructor");
}

TEST(what_is_not_constant_is_a_hole)
{
	CHECK_STR(read_as("x"), "?");
	CHECK_STR(read_as("'a' + x.y('q') + 'b'"), "a?b");
	CHECK_STR(read_as("`a${x + `}`}b`"), "a?b");
	CHECK_STR(read_as("f'a{x}b'"), "a?b");
	CHECK_STR(read_as("x + y"), "?");
}

static bool is_in(const char *text, const char *word)
{
	const char *const list[] = { "something", word };
	struct words words;
	struct name name;
	bool in;

	literal_read(text, strlen(text), &name);
	if (words_init(&words, list, 2) < 0)
		return false;
	in = literal_is_in(&name, &words);
	words_done(&words);
	return in;
}

TEST(holes_may_hide_a_word_when_enough_of_it_is_known)
{
	CHECK(is_in("'constructor'", "constructor"));
	CHECK(is_in("'cons' + x", "constructor"));
	CHECK(is_in("x + 'uctor'", "constructor"));
	CHECK(is_in("'con' + x + 'tor'", "constructor"));
	CHECK(!is_in("'item' + x", "constructor"));
	CHECK(!is_in("x", "constructor"));
	CHECK(!is_in("x + '_' + y", "constructor"));
	CHECK(!is_in("'constructors'", "constructor"));
}

TEST(a_star_stands_for_every_end)
{
	CHECK(is_in("'/dev/tcp/x/1'", "/dev/tcp/*"));
	CHECK(is_in("'/dev/tcp/' + x", "/dev/tcp/*"));
	CHECK(is_in("'/dev/tc' + x", "/dev/tcp/*"));
	CHECK(!is_in("'/tmp/' + x", "/dev/tcp/*"));
	CHECK(!is_in("x + '.txt'", "/dev/tcp/*"));
	CHECK(!is_in("'/dev/tcp'", "/dev/tcp/*"));
}

TEST(a_text_that_is_too_long_is_in_no_list)
{
	static char text[2 * NAME_BYTES_MAX];
	struct name name;

	memset(text, 'a', sizeof(text) - 1);
	text[0] = '"';
	literal_read(text, sizeof(text) - 1, &name);
	CHECK(name.cut);
	CHECK(literal_is_open(&name));
}
