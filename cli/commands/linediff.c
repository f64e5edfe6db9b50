#include "cli/commands/linediff.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/command.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define SECONDS 60

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

/* One line of output for each line of either text, with its kind in front. */
static int run_diff(int left, int right, char *room, size_t size, size_t *ret_len, struct err *err)
{
	char left_path[64];
	char right_path[64];
	const char *const argv[] = { "/usr/bin/diff", "-a", "--old-line-format=-%l\n",
		"--new-line-format=+%l\n", "--unchanged-line-format= %l\n", "--", left_path,
		right_path, NULL };
	const struct command_line line = { argv, .seconds = SECONDS };
	int status;

	cut_printf(left_path, sizeof(left_path), "/proc/%d/fd/%d", (int)getpid(), left);
	cut_printf(right_path, sizeof(right_path), "/proc/%d/fd/%d", (int)getpid(), right);
	status = command_run(&line, room, size, ret_len, err);
	if (status < 0)
		return -1;
	/* it exits with 1 when the texts differ, and with more when something went wrong */
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return err_set(err, ERR_SYSTEM, "%s ended with wait status %#x", argv[0],
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
