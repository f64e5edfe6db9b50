#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/command.h"
#include "tests/check.h"

static struct err err;
static char text[16];

static int shell(const char *script, struct command_line line)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };

	err = (struct err)ERR_INIT;
	line.argv = argv;
	line.seconds = line.seconds ? line.seconds : 20;
	return command_run(&line, text, sizeof(text), NULL, &err);
}

TEST(what_a_program_prints_is_taken_with_its_status)
{
	CHECK_EQ_INT(shell("echo word; exit 3", (struct command_line){ 0 }), 3 << 8);
	CHECK_STR(text, "word\n");
}

TEST(what_there_is_no_room_for_is_read_and_cut)
{
	CHECK_EQ_INT(shell("head -c 200000 /dev/zero | tr '\\0' x", (struct command_line){ 0 }), 0);
	CHECK_STR(text, "xxxxxxxxxxxxxxx");
}

TEST(stderr_is_taken_when_asked_for)
{
	CHECK_EQ_INT(shell("echo a >&2", (struct command_line){ .with_stderr = true }), 0);
	CHECK_STR(text, "a\n");
}

TEST(a_program_that_is_not_there_is_an_error_of_its_name)
{
	const char *const argv[] = { "/no/such/program", NULL };
	const struct command_line line = { argv, .seconds = 1 };

	err = (struct err)ERR_INIT;
	CHECK_EQ_INT(command_run(&line, text, sizeof(text), NULL, &err), -1);
	CHECK_STR(err.text, "/no/such/program: No such file or directory");
	CHECK_EQ_INT(err.sys_errno, ENOENT);
}

TEST(a_program_that_hangs_is_killed_after_its_time)
{
	int status = shell("exec sleep 1000", (struct command_line){ .seconds = 1 });

	CHECK(WIFSIGNALED(status));
}

TEST(as_daemon_a_program_of_roots_has_no_rights)
{
	CHECK_EQ_INT(shell("id -u; grep -c 'CapEff:.*[1-9a-f]' /proc/self/status",
			     (struct command_line){ .as_daemon = true }),
		1 << 8);
	CHECK_STR(text, geteuid() == 0 ? "65534\n0\n" : text);
}
