#include <string.h>

#include "cli/base/language.h"
#include "tests/check.h"

static const char *guess(const char *path, const char *code, struct err *err)
{
	const struct language_hints hints = { path, code, strlen(code) };

	*err = (struct err)ERR_INIT;
	return language_guess(&hints, err);
}

TEST(a_suffix_or_the_first_line_tells_the_language)
{
	static const struct {
		const char *path, *code, *language;
	} rows[] = {
		{ "a.py", "1", "python" },
		{ "in/a.mjs", "1", "javascript" },
		{ "a.sh", "1", "bash" },
		{ "a", "#!/bin/bash\n", "bash" },
		{ "a", "#! /usr/bin/env  python3.11", "python" },
		{ "a.txt", "#!/usr/bin/env -S A=b node --x\r\n", "javascript" },
		{ "a.py", "#!/usr/bin/env -S uv run --script\n", "python" },
		{ "a.d/b", "#!/bin/sh -e\n", "bash" },
		{ NULL, "#!/bin/bash\n", "bash" },
		{ NULL, "print(1)", "python" },
		{ NULL, "", "python" },
	};
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(guess(rows[i].path, rows[i].code, &err), rows[i].language);
}

TEST(a_name_that_no_language_can_have_is_refused_with_a_guess)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(language_check("python", &err), 0);
	CHECK_EQ_INT(language_check("some-thing9", &err), 0);
	CHECK_EQ_INT(language_check("Python", &err), -1);
	CHECK(strstr(err.text, "\"Python\" is not a language; did you mean python?"));
	CHECK_EQ_INT(language_check("C++", &err), -1);
	CHECK(strstr(
		err.text, "\"C++\" is not a language; languages are written in small letters"));
}

TEST(what_nobody_can_tell_is_refused_and_not_run_as_python)
{
	static const struct {
		const char *path, *code, *said;
	} rows[] = {
		{ "a.ts", "1", "a.ts: cectl does not know what a .ts file is: name the language" },
		{ "a.rb", "1", "a .rb file" },
		{ "a.rb", "#!/usr/bin/ruby\n",
			"begins with #! and ruby, which cectl does not know" },
		{ "a", "1", "neither a suffix nor a first line" },
		{ ".profile", "1", "neither a suffix" },
		{ "a.", "1", "neither a suffix" },
		{ "a", "#!\n", "neither a suffix" },
		{ "a", "#!/usr/bin/python2\n", "python2" },
		{ "a.py", "#!/bin/bash\n", "python by its suffix and bash by its first line" },
		{ NULL, "#!/usr/bin/env ruby\n", "the program begins with #! and ruby" },
	};
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(!guess(rows[i].path, rows[i].code, &err));
		CHECK(strstr(err.text, rows[i].said));
	}
}

TEST(a_first_line_of_any_length_is_read_within_bounds)
{
	char code[1000];
	struct err err;

	memset(code, 'x', sizeof(code) - 1);
	code[sizeof(code) - 1] = '\0';
	memcpy(code, "#!/", 3);
	CHECK(!guess("a", code, &err));
	memset(code + 2, ' ', sizeof(code) - 3);
	CHECK(!guess("a", code, &err));
}
