#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/spawner/say.h"
#include "tests/check.h"

static char said[4096];

static void listen_to(const char *event, const char *text)
{
	int pipes[2];
	int before = dup(STDERR_FILENO);
	ssize_t len;

	CHECK(before >= 0 && pipe(pipes) == 0);
	CHECK(dup2(pipes[1], STDERR_FILENO) >= 0);
	say(SAY_ERROR, event, text);
	CHECK(dup2(before, STDERR_FILENO) >= 0);
	len = read(pipes[0], said, sizeof(said) - 1);
	close(before);
	close(pipes[0]);
	close(pipes[1]);
	CHECK(len > 0);
	said[len] = '\0';
}

TEST(a_line_has_level_event_and_text)
{
	listen_to("start", "no such user");
	CHECK_STR(said, "<3>ced-spawner start text=\"no such user\"\n");
}

TEST(a_text_cannot_forge_a_line_or_reach_a_terminal)
{
	listen_to("start", "a\n<3>ced \x1b[2J\"b\\\x7f");
	CHECK_STR(said, "<3>ced-spawner start text=\"a?<3>ced ?[2J?b??\"\n");
}

TEST(a_long_text_is_cut_and_the_line_still_ends)
{
	char text[3000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	listen_to("start", text);
	CHECK(strlen(said) < 1100);
	CHECK_STR(said + strlen(said) - 5, "...\"\n");
}
