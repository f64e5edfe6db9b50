#include <string.h>

#include "daemon/settings/complaint.h"
#include "tests/check.h"

static const char *const shell[] = { "(SyntaxError) %f: line %l: %Msyntax error", "%f: line %l: %m",
	NULL };
static const char *const perl[] = { "(SyntaxError) %Msyntax error at %f line %l, near %x",
	"%m at %f line %l.", "%m at %f line %l, <%x> line %x.", NULL };

static struct arena arena;

static const struct value *found(const char *const *forms, const char *file, const char *text)
{
	const struct job_spec spec = { .entrypoint = file, .code = { "one\ntwo\nthree", 13 } };

	arena_done(&arena);
	arena_init(&arena, 1 << 20);
	return complaint_find(&arena, forms, &spec, text, strlen(text));
}

static void expect(const struct value *error, const char *type, const char *message, int64_t line)
{
	CHECK(error != NULL);
	if (!error)
		return;
	CHECK_STR(value_as_text(value_get(error, "type")), type);
	CHECK_STR(value_as_text(value_get(error, "message")), message);
	CHECK_EQ_INT(value_as_int(value_get(error, "line"), -1), line);
}

TEST(a_shells_last_line_is_its_error)
{
	const struct value *error =
		found(shell, "main.sh", "warning\nmain.sh: line 2: frob: command not found\n");

	expect(error, "Error", "frob: command not found", 2);
	CHECK_STR(value_as_text(value_get(error, "text")), "two");
	arena_done(&arena);
}

TEST(what_stands_further_up_was_not_the_end)
{
	CHECK(!found(shell, "main.sh", "main.sh: line 2: frob: command not found\nbye\n"));
	CHECK(!found(shell, "main.sh", "main.sh: line 2: frob: command not found\nls: no\n"));
	arena_done(&arena);
}

TEST(a_form_with_a_type_is_looked_for_a_few_lines_up)
{
	expect(found(shell, "main.sh",
		       "main.sh: line 3: syntax error near unexpected token `fi'\n"
		       "main.sh: line 3: `fi'\n"),
		"SyntaxError", "syntax error near unexpected token `fi'", 3);
	arena_done(&arena);
}

TEST(a_message_may_hold_what_follows_it)
{
	expect(found(perl, "main.pl", "stopped at main.pl line 9. at main.pl line 2.\n"), "Error",
		"stopped at main.pl line 9.", 2);
	expect(found(perl, "main.pl", "no more at main.pl line 3, <STDIN> line 17.\n"), "Error",
		"no more", 3);
	expect(found(perl, "main.pl",
		       "syntax error at main.pl line 1, near \"1 +\"\n"
		       "Execution of main.pl aborted due to compilation errors.\n"),
		"SyntaxError", "syntax error at main.pl line 1, near \"1 +\"", 1);
	arena_done(&arena);
}

TEST(another_file_another_shape_or_nothing_is_no_error)
{
	CHECK(!found(shell, "main.sh", "other.sh: line 2: frob\n"));
	CHECK(!found(shell, "main.sh", "main.sh: line two: frob\n"));
	CHECK(!found(shell, "main.sh", "main.sh: line 99999999999: frob\n"));
	CHECK(!found(shell, "main.sh", "main.sh: line 2: "));
	CHECK(!found(shell, "main.sh", ""));
	CHECK(!found(shell, "main.sh", "\n\n"));
	arena_done(&arena);
}

TEST(a_line_that_the_program_does_not_have_has_no_text)
{
	const struct value *error = found(shell, "main.sh", "main.sh: line 77: gone\n");

	expect(error, "Error", "gone", 77);
	CHECK_STR(value_as_text(value_get(error, "text")), "");
	arena_done(&arena);
}

TEST(bytes_that_are_no_text_are_not_told)
{
	expect(found(shell, "main.sh", "main.sh: line 1: \xff\xfe\n"), "Error", "", 1);
	arena_done(&arena);
}

TEST(forms_are_held_to_what_is_known)
{
	CHECK(complaint_is_form("%f: line %l: %m"));
	CHECK(complaint_is_form("(Oops) %f:%l:%c: %m"));
	CHECK(!complaint_is_form("%f: %m"));
	CHECK(!complaint_is_form("line %l: %q"));
	CHECK(!complaint_is_form("line %l: %"));
	CHECK(!complaint_is_form("%m %x %m %x %l"));
}

/* Tries the last text at every length, for every length of the text before it. */
TEST(a_long_line_full_of_near_misses_is_over_soon)
{
	static char text[4096];
	static const char *const hard[] = { "%x at %m at %x line %l.", NULL };

	for (size_t i = 0; i + 4 < sizeof(text); i += 4)
		memcpy(text + i, " at ", 4);
	CHECK(!found(hard, "main.pl", text));
	arena_done(&arena);
}
