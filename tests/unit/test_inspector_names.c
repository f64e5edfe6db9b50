#include <string.h>

#include "daemon/inspector/names.h"
#include "tests/check.h"

static struct name read_one(const char *text)
{
	struct name name;

	name_read(text, strlen(text), &name);
	return name;
}

TEST(a_plain_name_stays_as_it_is)
{
	CHECK_STR(read_one("eval").text, "eval");
	CHECK_STR(read_one("").text, "");
}

TEST(names_are_folded_as_python_folds_them)
{
	static const char *const rows[][2] = {
		{ "ｅｖａｌ", "eval" },
		{ "𝓮𝔁𝓮𝓬", "exec" },
		{ "evªl", "eval" },
		{ "oſ", "os" },
		{ "ºs", "os" },
		{ "ﬁle", "file" },
		{ "e\u0301", "\u00e9" },
		{ "größe", "größe" },
		{ "变量", "变量" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(read_one(rows[i][0]).text, rows[i][1]);
}

TEST(a_name_that_is_too_long_is_cut_and_says_so)
{
	char text[4 * NAME_BYTES_MAX];
	struct name name;

	memset(text, 'a', sizeof(text));
	name_read(text, sizeof(text), &name);
	CHECK(name.cut);
	CHECK_EQ_INT(name.len, NAME_BYTES_MAX);
}

TEST(a_name_that_grows_when_it_is_folded_is_cut_and_says_so)
{
	/* Folding turns this one character into 18. */
	char text[NAME_BYTES_MAX] = "";
	struct name name;

	for (int i = 0; i < 60; i++)
		strcat(text, "ﷺ");
	name_read(text, strlen(text), &name);
	CHECK(name.cut);
	CHECK(name.len <= NAME_BYTES_MAX);
}

TEST(bytes_that_are_no_text_are_kept)
{
	struct name name;

	name_read("a\xff", 2, &name);
	CHECK_EQ_INT(name.len, 2);
	CHECK(name.cut);
}

TEST(a_path_may_hold_blanks_comments_and_continuations)
{
	static const char text[] = "os . \\\n path # where\n . join";
	struct name path;

	CHECK(path_read(text, sizeof(text) - 1, &path));
	CHECK_STR(path.text, "os.path.join");
	CHECK_EQ_INT(path_tail(&path), 8);
	CHECK_EQ_INT(path_head_len(&path), 2);
}

TEST(what_is_more_than_names_and_dots_is_no_path)
{
	static const char *const rows[] = { "", ".", "a.", ".a", "a..b", "f()", "a[0].b", "(a).b",
		"a b", "\"a\".b", "a.b c" };
	struct name path;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(!path_read(rows[i], strlen(rows[i]), &path));
}

TEST(the_parts_of_a_path_are_folded)
{
	static const char text[] = "ｏｓ.ｓystem";
	struct name path;

	CHECK(path_read(text, sizeof(text) - 1, &path));
	CHECK_STR(path.text, "os.system");
}
