#include <string.h>

#include "daemon/inspector/text_heuristics.h"
#include "daemon/inspector/words.h"
#include "tests/check.h"

static bool has_path(const struct words *words, const char *text)
{
	struct name path;

	return path_read(text, strlen(text), &path) && words_have_path(words, &path);
}

TEST(an_empty_list_holds_nothing)
{
	struct words words;

	CHECK_EQ_INT(words_init(&words, NULL, 0), 0);
	CHECK(!words_have(&words, "a", 1));
	CHECK(!words_have(&words, "", 0));
	words_done(&words);
	words_done(&words);
}

TEST(a_word_stands_for_itself_only)
{
	static const char *const list[] = { "json", "os.path", "a" };
	struct words words;

	CHECK_EQ_INT(words_init(&words, list, 3), 0);
	CHECK(words_have(&words, "json", 4));
	CHECK(!words_have(&words, "jso", 3));
	CHECK(!words_have(&words, "json5", 5));
	CHECK(has_path(&words, "os.path"));
	CHECK(!has_path(&words, "os"));
	CHECK(!has_path(&words, "os.path.join"));
	words_done(&words);
}

TEST(a_star_behind_a_path_stands_for_it_and_all_below)
{
	static const char *const list[] = { "numpy.*", "a.b.*" };
	struct words words;

	CHECK_EQ_INT(words_init(&words, list, 2), 0);
	CHECK(has_path(&words, "numpy"));
	CHECK(has_path(&words, "numpy.linalg.norm"));
	CHECK(!has_path(&words, "numpyx"));
	CHECK(!has_path(&words, "a"));
	CHECK(has_path(&words, "a.b"));
	CHECK(has_path(&words, "a.b.c"));
	CHECK(!has_path(&words, "a.bc"));
	words_done(&words);
}

TEST(a_star_in_front_stands_for_the_last_of_several_names)
{
	static const char *const list[] = { "*.sys", "*._" };
	struct words words;

	CHECK_EQ_INT(words_init(&words, list, 2), 0);
	CHECK(has_path(&words, "re.enum.sys"));
	CHECK(!has_path(&words, "sys"));
	CHECK(!has_path(&words, "re.sys.path"));
	CHECK(has_path(&words, "random._os"));
	CHECK(!has_path(&words, "random.__doc__"));
	CHECK(!has_path(&words, "_os"));
	words_done(&words);
}

TEST(a_path_that_was_cut_is_only_what_a_star_says)
{
	static const char *const list[] = { "os.*" };
	char text[2 * NAME_BYTES_MAX];
	struct words words;
	struct name path;

	CHECK_EQ_INT(words_init(&words, list, 1), 0);
	memset(text, 'a', sizeof(text));
	memcpy(text, "os.", 3);
	CHECK(path_read(text, sizeof(text), &path));
	CHECK(path.cut);
	CHECK(words_have_path(&words, &path));
	memcpy(text, "oz.", 3);
	CHECK(path_read(text, sizeof(text), &path));
	CHECK(!words_have_path(&words, &path));
	words_done(&words);
}

TEST(a_template_reaches_by_a_dot_inside_a_field)
{
	static const char *const list[] = { "__class__" };
	static const struct {
		const char *text;
		bool reaches;
	} rows[] = {
		{ "\"{0.__globals__}\"", true },
		{ "\"{0[a].__init__.__code__}\"", true },
		{ "\"{0.__glo\" + \"bals__}\"", true },
		{ "\"{0._private}\"", true },
		{ "\"{0.__class__}\"", false },
		{ "\"{0.real}\"", false },
		{ "\"a.__globals__ {}\"", false },
		{ "\"{} .__globals__\"", false },
		{ "\"\"", false },
		{ "", false },
		{ "{.", false },
	};
	struct words words;

	CHECK_EQ_INT(words_init(&words, list, 1), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_EQ_INT(template_reaches(rows[i].text, strlen(rows[i].text), &words),
			rows[i].reaches);
	words_done(&words);
}
