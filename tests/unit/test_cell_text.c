#include <string.h>

#include "cli/commands/cell_text.h"
#include "tests/check.h"

static bool is_complete(const char *text)
{
	return cell_text_is_complete((struct bytes){ text, strlen(text) }, CELL_PYTHON);
}

TEST(a_line_is_a_cell)
{
	static const char *const whole[] = { "x = 1\n", "f(1, [2])\n", "print('(')\n", "x = 'a:'\n",
		"# (\n", "x = {1: 2}\n", "\"\"\"a\"\"\"\n", "x = ')'\n", "\n", "'\\''\n", "x[1:]\n",
		"a @ b\n" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		CHECK(is_complete(whole[i]));
}

TEST(what_is_open_goes_on)
{
	static const char *const open[] = { "f(1,\n", "x = [\n1,\n", "x = \"\"\"a\n",
		"x = '''\n'\n", "x = 1 + \\\n", "def f():\n", "def f():\n  return 1\n",
		"@staticmethod\n", "if x: # why\n", "for x in y:\n\tpass\n", "x = {\n'a':\n" };

	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		CHECK(!is_complete(open[i]));
}

TEST(an_empty_line_ends_a_block)
{
	CHECK(is_complete("def f():\n  return 1\n\n"));
	CHECK(is_complete("@cache\ndef f(): return 1\n  \n"));
	CHECK(!is_complete("if (x and\n\n"));
	CHECK(!is_complete("x = '''\n\n"));
	CHECK(is_complete("f(1,\n2)\n"));
	CHECK(is_complete("x = 1 + \\\n2\n"));
	CHECK(is_complete("x = '''\n'''\n"));
}

TEST(errors_are_left_to_the_interpreter)
{
	CHECK(is_complete("x = 'a\n"));
	CHECK(is_complete("print('a\n"));
	CHECK(is_complete("def f():\n  x = [\"a\n"));
	CHECK(!is_complete("print('a\\\n"));
	CHECK(is_complete("x)\n"));
	CHECK(is_complete(""));
}

static bool is_whole(const char *text)
{
	return cell_text_is_complete((struct bytes){ text, strlen(text) }, CELL_JAVASCRIPT);
}

TEST(javascript_is_complete_when_nothing_is_open)
{
	static const char *const whole[] = { "x = 1\n", "f(1, [2])\n", "console.log('(')\n",
		"// (\n", "/* ( */ 1\n", "`(`\n", "`\n(`\n", "x.match(/\\(/)\n", "x = /[/(]/\n",
		"a / b / (c)\n", "'\\''\n", "if (x) {\n}\n", "'a\n", "x)\n", "" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		CHECK(is_whole(whole[i]));
}

TEST(javascript_goes_on_where_something_is_open)
{
	static const char *const open[] = { "f(1,\n", "x = [\n", "function f() {\n\n", "`a\n",
		"/* a\n", "`\\`\n", "x = { // }\n", "a / b / (\n", "f('a\\'', (\n" };

	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		CHECK(!is_whole(open[i]));
}

TEST(a_runtime_is_read_by_its_name)
{
	CHECK(cell_language_of("bash") == CELL_BASH);
	CHECK(cell_language_of("node22") == CELL_JAVASCRIPT);
	CHECK(cell_language_of("science") == CELL_PYTHON);
	CHECK(!cell_text_is_complete((struct bytes){ "if x\n", 5 }, CELL_BASH));
	CHECK(cell_text_is_complete((struct bytes){ "if x\n", 5 }, CELL_JAVASCRIPT));
}
