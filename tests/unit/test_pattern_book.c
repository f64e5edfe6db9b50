#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/redact/pattern_book.h"
#include "tests/check.h"

static void is_refused(const char *text, const char *why)
{
	struct err err = ERR_INIT;
	struct pattern_book *book = pattern_book_parse(text, strlen(text), &err);

	CHECK(!book);
	CHECK(strstr(err.text, why));
	if (!strstr(err.text, why))
		CHECK_STR(err.text, why);
	pattern_book_release(book);
}

static struct pattern_book *book_of(const char *text)
{
	struct err err = ERR_INIT;
	struct pattern_book *book = pattern_book_parse(text, strlen(text), &err);

	if (!book)
		(void)printf("# %s\n", err.text);
	return book;
}

#define PATTERNS(rows) "{\"patterns\":[" rows "]}"
#define HOUSE                                                                  \
	"{\"name\":\"house\",\"words\":[\"HT-\"],\"pattern\":\"HT-[0-9]{4}\"," \
	"\"matches\":[[\"a \",\"HT-1234\",\" b\"]],\"passes\":[\"HT-SQL\"]}"

TEST(the_shipped_patterns_do_what_their_examples_say)
{
	struct err err = ERR_INIT;
	struct pattern_book *book = pattern_book_load(NULL, &err);

	CHECK_STR(err.text, "");
	CHECK(book);
	CHECK(book->count >= 30);
	pattern_book_release(book);
}

TEST(a_book_of_ones_own_is_read)
{
	struct pattern_book *book = book_of(PATTERNS(HOUSE));

	CHECK_EQ_INT(book->count, 1);
	CHECK_STR(book->rules[0].name, "house");
	CHECK_EQ_INT(book->rules[0].after, 4096);
	pattern_book_release(book);
}

TEST(what_is_wrong_with_a_book_is_said)
{
	is_refused("[]", "no list \"patterns\"");
	is_refused(PATTERNS("{}"), "name: ");
	is_refused(PATTERNS("{\"name\":\"A\"}"), "name: ");
	is_refused(PATTERNS("{\"name\":\"a\",\"motif\":\"x\"}"), "no key \"motif\"");
	is_refused(PATTERNS("{\"name\":\"a\",\"off\":true}"), "no pattern of this name");
	is_refused(PATTERNS("{\"name\":\"a\"}"), "pattern is missing");
	is_refused(PATTERNS("{\"name\":\"a\",\"pattern\":\"(\"}"), "at byte 1");
	is_refused(PATTERNS("{\"name\":\"a\",\"pattern\":\"x\",\"before\":-1}"), "before: 0 to");
	is_refused(
		PATTERNS("{\"name\":\"a\",\"pattern\":\"x\",\"before\":\"16\"}"), "before: 0 to");
	is_refused(PATTERNS("{\"name\":\"a\",\"pattern\":\"x\",\"any_case\":\"yes\"}"),
		"any_case is true or false");
	is_refused(PATTERNS("{\"name\":\"a\",\"off\":1}"), "off is true or false");
	is_refused("{\"patterns\":[],\"motifs\":[]}", "no key \"motifs\"");
	is_refused(PATTERNS("{\"name\":\"a\",\"pattern\":\"x\"}"), "an example of each");
	is_refused(PATTERNS("{\"name\":\"a\",\"pattern\":\"x\",\"matches\":[[\"\",\"x\",\"\"]],"
			    "\"passes\":[\"y\"]}"),
		"at least one is needed");
	is_refused(PATTERNS("{\"name\":\"a\",\"pattern\":\"x\",\"matches\":[[\"\",\"x\",\"\"]],"
			    "\"passes\":[\"y\"],\"words\":[\"x\"]}"),
		"at least two bytes");
}

TEST(a_pattern_that_does_not_do_what_its_examples_say_is_refused)
{
	is_refused(PATTERNS("{\"name\":\"a\",\"words\":[\"xx\"],\"pattern\":\"xxy\","
			    "\"matches\":[[\"\",\"xxz\",\"\"]],\"passes\":[\"a\"]}"),
		"is not masked as it says: xxz");
	is_refused(PATTERNS("{\"name\":\"a\",\"words\":[\"xx\"],\"pattern\":\"xxy\","
			    "\"matches\":[[\"\",\"xxy\",\"\"]],\"passes\":[\"axxyb\"]}"),
		"this example of `passes` is masked: axxyb");
	is_refused(PATTERNS("{\"name\":\"a\",\"words\":[\"xx\"],\"pattern\":\"xxy\","
			    "\"matches\":[\"xxy\"],\"passes\":[\"b\"]}"),
		"a list of the text before");
}

TEST(a_later_rule_takes_the_place_of_an_earlier_one_or_switches_it_off)
{
	struct pattern_book *book = book_of(PATTERNS(HOUSE ",{\"name\":\"house\",\"off\":true}"));

	CHECK_EQ_INT(book->count, 1);
	CHECK(book->rules[0].off);
	CHECK_EQ_INT(book->words->count, 0);
	pattern_book_release(book);
}

TEST(a_file_is_put_on_top_of_what_is_shipped)
{
	char path[] = "/tmp/ced-patterns-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = PATTERNS(HOUSE ",{\"name\":\"jwt\",\"off\":true}");
	struct err err = ERR_INIT;
	struct pattern_book *book;

	CHECK(fd >= 0);
	CHECK_EQ_INT(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	book = pattern_book_load(path, &err);
	CHECK_STR(err.text, "");
	CHECK(book && book->count > 30);
	pattern_book_release(book);
	unlink(path);
	CHECK(!pattern_book_load(path, &err));
	CHECK(strstr(err.text, "redactions "));
}
