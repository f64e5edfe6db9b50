#include <string.h>

#include "daemon/inspector/shellword.h"
#include "tests/check.h"

/* The word's value; "?" in front of it when a part of it is unknown. */
static const char *read_before(const char *text, const char *behind)
{
	static char said[NAME_BYTES_MAX + 2];
	struct name name;
	bool closed = shellword_read(text, strlen(text), behind, &name);

	said[0] = '?';
	memcpy(said + 1, name.text, name.len + 1);
	for (size_t i = 1; said[i]; i++)
		if (said[i] == LITERAL_HOLE)
			said[i] = '_';
	return closed ? said + 1 : said;
}

static const char *read_as(const char *text)
{
	return read_before(text, "");
}

TEST(quotes_go)
{
	CHECK_STR(read_as("eval"), "eval");
	CHECK_STR(read_as("e'v'al"), "eval");
	CHECK_STR(read_as("\"eval\""), "eval");
	CHECK_STR(read_as("ev\"\"al"), "eval");
	CHECK_STR(read_as("\\e\\v\\al"), "eval");
	CHECK_STR(read_as("ev\\\nal"), "eval");
	CHECK_STR(read_as("\"a\\\"b\\c\""), "a\"b\\c");
	CHECK_STR(read_as("$\"eval\""), "eval");
	CHECK_STR(read_as("'a$b'"), "a$b");
	CHECK_STR(read_as("["), "[");
	CHECK_STR(read_as("a\001b"), "a\002b");
}

TEST(what_is_expanded_leaves_a_hole)
{
	CHECK_STR(read_as("$x"), "?_");
	CHECK_STR(read_as("ev${x:-$(y)}l"), "?ev_l");
	CHECK_STR(read_as("\"a$x b\""), "?a_ b");
	CHECK_STR(read_as("`x`y"), "?_y");
	CHECK_STR(read_as("$(x (y))z"), "?_z");
	CHECK_STR(read_as("/bin/e[n]v"), "?/bin/e_n_v");
	CHECK_STR(read_as("{a,b}"), "?_");
	CHECK_STR(read_as("~/x"), "?_/x");
	CHECK_STR(read_as("$'\\x65val'"), "?_");
}

TEST(a_line_that_goes_on_may_make_it_longer)
{
	CHECK_STR(read_before("tr", "\\\nap"), "?tr_");
	CHECK_STR(read_before("tr", "\\\n ap"), "tr");
	CHECK_STR(read_before("tr", " \\\nap"), "tr");
}

static bool is_plain(const char *text)
{
	return shellword_is_plain_delimiter(text, strlen(text));
}

TEST(delimiters_are_plain_or_wholly_quoted)
{
	CHECK(is_plain("EOF"));
	CHECK(is_plain("'EOF'"));
	CHECK(is_plain("\"EOF\""));
	CHECK(!is_plain("E\"O\"F"));
	CHECK(!is_plain("\\EOF"));
	CHECK(!is_plain("'E F'"));
	CHECK(!is_plain("'EOF\""));
	CHECK(!is_plain(""));
	CHECK(!is_plain("''"));
}

TEST(backticks_and_subscripts_can_hide)
{
	CHECK(shellword_hides_backtick("`a \\`b\\``", 9));
	CHECK(shellword_hides_backtick("`\\$(a)`", 7));
	CHECK(!shellword_hides_backtick("`a b`", 5));
	CHECK(!shellword_hides_backtick("$(a \\`)", 7));
	CHECK(shellword_hides_subscript("'a[$(b)]'", 9));
	CHECK(!shellword_hides_subscript("'[a]$(b)'", 9));
}

static bool is_sum(const char *text)
{
	return shellword_is_sum(text, strlen(text));
}

TEST(a_sum_is_one_pair_of_double_parentheses)
{
	CHECK(is_sum("$((x + 1))"));
	CHECK(is_sum("$(((x) * (y)))"));
	CHECK(!is_sum("$((curl x); echo)"));
	CHECK(!is_sum("$((curl x) )"));
	CHECK(!is_sum("$((a) || (b))"));
	CHECK(!is_sum("$((1 + $(curl x)))"));
	CHECK(!is_sum("$(())"));
}
