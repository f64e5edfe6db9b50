#include <string.h>

#include "proto/names.h"
#include "tests/check.h"

static bool file(const char *text)
{
	return name_is_file(text, strlen(text));
}

static bool path(const char *text)
{
	return name_is_path(text, strlen(text));
}

static bool variable(const char *text)
{
	return name_is_variable(text, strlen(text));
}

static bool printable(const char *text)
{
	return name_is_printable(text, strlen(text));
}

TEST(a_file_name_is_one_part)
{
	CHECK(file("main.py"));
	CHECK(file("..."));
	CHECK(file(".hidden"));
	CHECK(file("a b\\c"));
	CHECK(!file(""));
	CHECK(!file("."));
	CHECK(!file(".."));
	CHECK(!file("a/b"));
	CHECK(!file("/"));
	CHECK(!name_is_file("a\0b", 3));
	CHECK(!file("a\nb"));
}

TEST(a_file_name_has_at_most_255_bytes)
{
	char text[257];

	memset(text, 'x', sizeof(text));
	CHECK(name_is_file(text, 255));
	CHECK(!name_is_file(text, 256));
	CHECK(name_is_path(text, 255));
	CHECK(!name_is_path(text, 256));
}

TEST(a_path_is_relative_and_clean)
{
	CHECK(path("a"));
	CHECK(path("a/b/c.txt"));
	CHECK(!path(""));
	CHECK(!path("/a"));
	CHECK(!path("a/"));
	CHECK(!path("a//b"));
	CHECK(!path("./a"));
	CHECK(!path("a/.."));
	CHECK(!path("a/../b"));
	CHECK(!path("a/\x1b/b"));
}

TEST(a_variable_is_what_a_shell_knows)
{
	char text[130];

	CHECK(variable("A"));
	CHECK(variable("_a9"));
	CHECK(!variable(""));
	CHECK(!variable("9a"));
	CHECK(!variable("a-b"));
	CHECK(!variable("a=b"));
	CHECK(!variable("\xc3\xa4"));
	CHECK(!name_is_variable("A\0", 2));
	memset(text, 'A', sizeof(text));
	CHECK(name_is_variable(text, 128));
	CHECK(!name_is_variable(text, 129));
}

TEST(printable_text_hides_nothing)
{
	CHECK(printable(""));
	CHECK(printable("gr\xc3\xb6\xc3\x9f"
			"e \xe6\x95\xb0 \xf0\x9f\x98\x80"));
	CHECK(!printable("a\x1b[31m"));
	CHECK(!printable("a\x7f"));
	CHECK(!printable("a\xc2\x9b"));     /* C1 */
	CHECK(!printable("a\xe2\x80\xae")); /* right to left override */
	CHECK(!printable("a\xe2\x80\x8b")); /* zero width space */
	CHECK(!printable("a\xe2\x80\xa8")); /* line separator */
	CHECK(!printable("\xef\xbb\xbf"
			 "a")); /* byte order mark */
	CHECK(!printable("\xff"));
}
