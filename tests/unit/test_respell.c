#include <stdio.h>
#include <string.h>

#include "daemon/inspector/respell.h"
#include "tests/check.h"

static const char *respelled(const char *text)
{
	static char copy[200];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	(void)respell_bash(copy, strlen(copy));
	return copy;
}

TEST(a_file_opened_both_ways_is_spelt_as_one_that_is_written)
{
	CHECK_STR(respelled("exec 3<>f"), "exec 3>>f");
	CHECK_STR(respelled("cat <>f <&3"), "cat >>f <&3");
	CHECK_STR(respelled("echo \\<>f"), "echo \\<>f");
	CHECK_STR(respelled("cat <>(ls)"), "cat <>(ls)");
}

TEST(a_subscript_with_blanks_is_spelt_as_one_word)
{
	CHECK_STR(respelled("m[a b]=c"), "m[a_b]=c");
	CHECK_STR(respelled("x=1; m[a b]+=c"), "x=1; m[a_b]+=c");
	CHECK_STR(respelled("echo ${m[a b]} ${#m[c d]}"), "echo ${m[a_b]} ${#m[c_d]}");
}

TEST(words_of_a_command_stay_apart)
{
	CHECK_STR(respelled("sort a[ --x ]=1"), "sort a[ --x ]=1");
	CHECK_STR(respelled("sort \\\na[ x ]=1"), "sort \\\na[ x ]=1");
	CHECK_STR(respelled("sort x\\;a[ x ]=1"), "sort x\\;a[ x ]=1");
	CHECK_STR(respelled("m[a $(b) c]=1"), "m[a $(b) c]=1");
	CHECK_STR(respelled("m[ x ] y"), "m[ x ] y");
}

TEST(where_a_here_document_may_end_elsewhere_nothing_is_changed)
{
	CHECK_STR(respelled("cat <<\\<\\>\n<>\nexec 3<>f"), "cat <<\\<\\>\n<>\nexec 3<>f");
	CHECK_STR(respelled("cat <<'m[a b]=c'\nm[a b]=c"), "cat <<'m[a b]=c'\nm[a b]=c");
	CHECK_STR(respelled("cat <<E\\\nF\n3<>f"), "cat <<E\\\nF\n3<>f");
	CHECK_STR(respelled("cat <<'EOF' 3<>f\nEOF\n"), "cat <<'EOF' 3>>f\nEOF\n");
	CHECK_STR(respelled("cat <<< x 3<>f"), "cat <<< x 3>>f");
}
