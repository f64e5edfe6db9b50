#include "cli/terminal/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/base/fdio.h"

#define FILE_BYTES ((size_t)8 << 20) /* a larger file is not ours, and stays as it is */

/* ---- in memory ------------------------------------------------------------------------------ */

static bool is_worth_it(const struct history *history, const char *line, size_t len)
{
	const char *newest = history_line(history, 1);

	if (!len || len > HISTORY_LINE_BYTES || memchr(line, '\n', len) || memchr(line, '\0', len))
		return false;
	if (newest && strlen(newest) == len && memcmp(newest, line, len) == 0)
		return false;
	for (size_t i = 0; i < len; i++)
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return true;
	return false;
}

/* Whether the line was worth keeping. */
static bool remember(struct history *history, const char *line, size_t len)
{
	char *copy = is_worth_it(history, line, len) ? strndup(line, len) : NULL;
	char **place = &history->lines[(history->begin + history->count) % HISTORY_LINES];

	if (!copy)
		return false;
	if (history->count == HISTORY_LINES) {
		free(*place);
		history->begin = (history->begin + 1) % HISTORY_LINES;
		history->count--;
	}
	*place = copy;
	history->count++;
	return true;
}

const char *history_line(const struct history *history, size_t back)
{
	if (back == 0 || back > history->count)
		return NULL;
	return history->lines[(history->begin + history->count - back) % HISTORY_LINES];
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Our own regular file, which nobody else can read from now on; -1: leave it alone. */
static int open_file(const char *path)
{
	auto_fd int fd = open(path,
		O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat about;

	if (fd < 0 || fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) ||
		about.st_uid != geteuid() || (size_t)about.st_size > FILE_BYTES)
		return -1;
	if ((about.st_mode & 0777) != 0600 && fchmod(fd, 0600) < 0)
		return -1;
	return take_fd(&fd);
}

static void make_folders(const char *path)
{
	char *copy = strdup(path);

	for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(copy, 0700); /* open() says what is wrong */
		*slash = '/';
	}
	free(copy);
}

/* How many lines the text has. */
static size_t remember_all(struct history *history, const char *text, size_t len)
{
	size_t count = 0;

	for (size_t at = 0; at < len; count++) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t line = end ? (size_t)(end - text) - at : len - at;

		(void)remember(history, text + at, line);
		at += line + 1;
	}
	return count;
}

/* A new file beside the old one takes its place. */
static void cut_file(const struct history *history)
{
	auto_free char *beside = NULL;
	auto_fd int fd = -1;
	struct err err = ERR_INIT;
	struct buf buf;
	bool is_whole = true;

	if (asprintf(&beside, "%s.%d", history->path, (int)getpid()) < 0) {
		beside = NULL;
		return;
	}
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	buf_init(&buf, FILE_BYTES);
	for (size_t back = history->count; back > 0; back--)
		is_whole &= buf_append_text(&buf, history_line(history, back)) == 0 &&
			    buf_append_byte(&buf, '\n') == 0;
	is_whole = is_whole && write_all(fd, buf.bytes, buf.len, &err) == 0;
	buf_done(&buf);
	if (!is_whole || rename(beside, history->path) < 0)
		(void)unlink(beside);
}

/* False: the file cannot be used. */
static bool read_lines(struct history *history)
{
	auto_fd int fd = open_file(history->path);
	auto_free char *text = NULL;
	size_t len = 0;

	if (fd < 0 || read_file(history->path, FILE_BYTES, &text, &len, &(struct err)ERR_INIT) < 0)
		return false;
	if (remember_all(history, text, len) > HISTORY_LINES)
		cut_file(history);
	return true;
}

void history_open(struct history *history, const char *path)
{
	*history = (struct history){ .path = path ? strdup(path) : NULL };
	if (!history->path)
		return;
	make_folders(history->path);
	if (read_lines(history))
		return;
	free(history->path);
	history->path = NULL;
}

void history_add(struct history *history, const char *line, size_t len)
{
	auto_fd int fd = -1;
	struct buf buf;

	if (!remember(history, line, len) || !history->path)
		return;
	fd = open_file(history->path);
	buf_init(&buf, HISTORY_LINE_BYTES + 1);
	if (fd >= 0 && buf_append(&buf, line, len) == 0 && buf_append_byte(&buf, '\n') == 0)
		(void)write_all(fd, buf.bytes, buf.len, &(struct err)ERR_INIT);
	buf_done(&buf);
}

void history_close(struct history *history)
{
	for (size_t i = 0; i < HISTORY_LINES; i++)
		free(history->lines[i]);
	free(history->path);
	*history = (struct history){ 0 };
}

const char *history_place(struct arena *arena, const char *name)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && state[0] == '/')
		return arena_printf(arena, "%s/ced/%s", state, name);
	if (home && home[0] == '/')
		return arena_printf(arena, "%s/.local/state/ced/%s", home, name);
	return NULL;
}
