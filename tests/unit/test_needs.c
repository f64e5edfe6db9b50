#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/runtimes/command/needs.h"
#include "tests/check.h"

static struct err err = ERR_INIT;

/*
 * Runs a program and reads its output, from a child that has only its three standard descriptors.
 */
static int run(const char *const *argv, char *text, size_t size)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return -1;
	close(null);
	return needs_run(argv, text, size, &err);
}

TEST(a_program_is_run_and_heard)
{
	const char *const argv[] = { "/bin/echo", "one", "two", NULL };
	char text[64];

	CHECK_EQ_INT(run(argv, text, sizeof(text)), 0);
	CHECK_STR(text, "one two\n");
}

TEST(what_does_not_fit_is_left)
{
	const char *const argv[] = { "/bin/echo", "a long line", NULL };
	char text[5];

	CHECK_EQ_INT(run(argv, text, sizeof(text)), 0);
	CHECK_STR(text, "a lo");
}

TEST(a_program_that_is_not_there_says_nothing)
{
	const char *const argv[] = { "/no/such/program", NULL };
	char text[64];

	CHECK_EQ_INT(run(argv, text, sizeof(text)), 127);
	CHECK_STR(text, "");
}

struct seen {
	int count;
	bool libc;
	bool relative;
};

static int on_library(void *context, const char *library, struct err *ignored)
{
	struct seen *seen = context;

	(void)ignored;
	seen->count++;
	seen->libc = seen->libc || strstr(library, "/libc.so.6");
	seen->relative = seen->relative || library[0] != '/' || strchr(library, ' ');
	return 0;
}

TEST(libraries_are_told_by_their_paths)
{
	struct seen seen = { 0 };

	if (access(NEEDS_LOADER, X_OK) < 0)
		SKIP("there is no loader at " NEEDS_LOADER);
	CHECK_EQ_INT(needs_of("/bin/sh", on_library, &seen, &err), 0);
	CHECK(seen.count >= 1 && seen.libc && !seen.relative);
}

TEST(what_is_no_program_needs_nothing)
{
	struct seen seen = { 0 };

	CHECK_EQ_INT(needs_of("/etc/passwd", on_library, &seen, &err), 0);
	CHECK_EQ_INT(needs_of("/no/such/program", on_library, &seen, &err), 0);
	CHECK_EQ_INT(seen.count, 0);
}
