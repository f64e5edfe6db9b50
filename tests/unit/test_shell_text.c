#include <string.h>

#include "cli/commands/shell_text.h"
#include "tests/check.h"

static bool is_complete(const char *text)
{
	return shell_text_is_complete((struct bytes){ text, strlen(text) });
}

TEST(a_line_of_a_shell_is_a_cell)
{
	static const char *const whole[] = { "", "\n", "echo if then \\(x do\n",
		"echo 'a (' \"b (\"\n", "echo it\\'s\n", "# if (\n", "echo a#(b)\n",
		"x=$(echo \"$(ls)\")\n", "x=${y:-(}\n", "if a; then b; fi\n",
		"for i in 1; do a; done\n", "while a; do b; done | sort\n",
		"case x in a) b;; (c) d;; esac\n", "f() { echo }; }\n", "{ a; }\n", "a &\n",
		"cat <<<word\n", "echo $((1 << 2))\n", "((i <<= 1))\n", "cat <<END\nif (\nEND\n",
		"cat <<-'END' <<\"F\"\n\tEND\n'\nF\n", "echo `date`\n", "[[ a == (b|c) ]]\n",
		"a=(1 2\n3)\n", "echo a \\\nb\n", "a &&\nb\n", "echo done fi esac }\n",
		"echo \"$((1 + (2)))\"\n", ")\n", "if a\nthen\nif b; then c; fi\nfi\n",
		"! grep x\n", "time ls\n" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		CHECK(is_complete(whole[i]));
}

TEST(what_is_open_in_a_shell_goes_on)
{
	static const char *const open[] = { "echo 'a\n", "echo \"a\n", "echo `a\n", "echo $(a\n",
		"x=(1\n", "f() {\n", "if a; then\n", "if a; then b; else c\n", "for i in 1; do\n",
		"for i in 1\n", "while a\n", "case x in\n", "case x in a) b;;\n", "cat <<END\nx\n",
		"cat <<-E\n E\n", "echo a \\\n", "a |\n", "a &&\n", "a ||\n", "( a\n", "((i +\n",
		"echo \"$(a\"\n", "${x\n", "if a; then while b; do c; fi\n", "{ a }\n" };

	for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
		CHECK(!is_complete(open[i]));
}

TEST(depth_is_bounded)
{
	char text[4096];

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(!is_complete(text));
}
