#include "cli/commands/linediff.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

/* One line of output for each line of either text, with its kind in front. */
#define COMMAND                                                                   \
	"/usr/bin/diff -a --old-line-format='-%%l\n' --new-line-format='+%%l\n' " \
	"--unchanged-line-format=' %%l\n' -- /proc/%d/fd/%d /proc/%d/fd/%d"

/* A file that only we know.  A missing newline at the end is no difference. */
static int put_text(struct bytes text, struct err *err)
{
	auto_fd int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "memfd");
	if (write_all(fd, text.data, text.len, err) < 0)
		return -1;
	if (text.len > 0 && text.data[text.len - 1] != '\n' && write_all(fd, "\n", 1, err) < 0)
		return -1;
	return take_fd(&fd);
}

/* Reads to the end in any case, so that diff(1) does not die of a closed pipe. */
static size_t read_output(FILE *from, char *room, size_t size)
{
	char rest[4096];
	size_t len = fread(room, 1, size, from);

	while (fread(rest, 1, sizeof(rest), from) > 0)
		;
	return len;
}

/* Exits with 1 when the texts differ, and with more when something went wrong. */
static int run_diff(int left, int right, char *room, size_t size, size_t *ret_len, struct err *err)
{
	char command[sizeof(COMMAND) + 64];
	int pid = (int)getpid();
	FILE *from;
	int status;

	cut_printf(command, sizeof(command), COMMAND, pid, left, pid, right);
	from = popen(command, "re");
	if (!from)
		return err_sys(err, "/usr/bin/diff");
	*ret_len = read_output(from, room, size);
	status = pclose(from);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return err_set(err, ERR_SYSTEM, "/usr/bin/diff ended with wait status %#x",
			(unsigned)status);
	return 0;
}

static size_t count_lines(struct bytes text)
{
	const char *end = text.data + text.len;
	size_t count = 0;

	for (const char *at = text.data; at < end; count++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline ? newline + 1 : end;
	}
	return count;
}

static void take_lines(const char *output, size_t len, size_t most, struct line_diff *diff)
{
	const char *end = output + len;
	size_t left = 0;
	size_t right = 0;

	while (output < end && diff->count < most) {
		const char *newline = memchr(output, '\n', (size_t)(end - output));
		enum line_kind kind = *output == '-'   ? LINE_GONE
				      : *output == '+' ? LINE_NEW
						       : LINE_SAME;
		size_t width = (size_t)((newline ? newline : end) - output) - 1;

		left += kind != LINE_NEW;
		right += kind != LINE_GONE;
		diff->lines[diff->count++] = (struct line){ kind, output + 1, width,
			kind == LINE_NEW ? 0 : left, kind == LINE_GONE ? 0 : right };
		diff->changed += kind != LINE_SAME;
		output = newline ? newline + 1 : end;
	}
}

int line_diff(struct arena *arena, struct bytes left, struct bytes right,
	struct line_diff *ret_diff, struct err *err)
{
	size_t most = count_lines(left) + count_lines(right);
	size_t size = left.len + right.len + most + 2;
	struct line_diff diff = { .lines = arena_array(arena, struct line, most + 1) };
	char *output = arena_alloc(arena, size);
	size_t len = 0;
	auto_fd int left_fd = put_text(left, err);
	auto_fd int right_fd = left_fd < 0 ? -1 : put_text(right, err);

	if (right_fd < 0 || !diff.lines || !output)
		return right_fd < 0 ? -1 : err_set(err, ERR_MEMORY, "two texts are too large");
	if (run_diff(left_fd, right_fd, output, size, &len, err) < 0)
		return -1;
	take_lines(output, len, most, &diff);
	*ret_diff = diff;
	return 0;
}
