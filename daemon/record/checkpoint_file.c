#include "daemon/record/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define MODE      0640
#define TEXT_MAX_ 1024

/* Whether the file ends in the middle of a line, as after a power failure. */
static bool is_torn(int fd)
{
	struct stat st;
	char last = '\n';

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	return pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

int checkpoint_file_hold(const char *path, struct err *err)
{
	auto_fd int fd =
		open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, MODE);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a regular file", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? err_set(err, ERR_BUSY,
					 "%s: another daemon appends to this file: give each a "
					 "checkpoint_file of its own",
					 path)
			       : err_sys(err, "%s cannot be locked", path);
	return take_fd(&fd);
}

int checkpoint_file_append(const char *path, const char *line, struct err *err)
{
	auto_fd int fd =
		open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, MODE);
	char text[TEXT_MAX_];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a regular file", path);
	cut_printf(text, sizeof(text), "%s%s\n", is_torn(fd) ? "\n" : "", line);
	/* In one call: others may append to it too. */
	if (write_all(fd, text, strlen(text), err) < 0)
		return err_wrap(err, "%s", path);
	return fdatasync(fd) < 0 ? err_sys(err, "%s", path) : 0;
}

/* Whether the piece contains this line as a whole line. */
static bool has_line(const struct checkpoint_piece *piece, const char *line)
{
	const char *at = piece->text;
	size_t len = strlen(line);
	size_t left = at ? piece->len : 0;

	while ((at = left > len ? memmem(at, left, line, len) : NULL)) {
		if ((at == piece->text || at[-1] == '\n') && at[len] == '\n')
			return true;
		at += len;
		left = piece->len - (size_t)(at - piece->text);
	}
	return false;
}

int checkpoint_file_ensure(const char *path, const char *line, struct err *err)
{
	struct checkpoint_piece piece = { NULL, 0, 0, 0 };
	bool there;

	if (checkpoint_file_read(path, -1, &piece, err) < 0)
		return -1;
	there = has_line(&piece, line);
	free(piece.text);
	return there ? 0 : checkpoint_file_append(path, line, err);
}

int checkpoint_file_save_last(const char *path, const char *line, struct err *err)
{
	auto_fd int fd = open(
		path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, MODE);

	if (fd < 0 || write_all(fd, line, strlen(line), err) < 0)
		return err_sys(err, "%s", path);
	return 0;
}

void checkpoint_file_last_line(const char *path, char *ret_line, size_t size)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got = fd >= 0 ? read(fd, ret_line, size - 1) : 0;

	ret_line[got > 0 ? got : 0] = '\0';
}

int checkpoint_file_has(const char *path, const char *line, struct err *err)
{
	struct checkpoint_piece piece = { NULL, 0, 0, 0 };
	struct stat st;
	bool there;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "%s", path);
	if (checkpoint_file_read(path,
		    st.st_size > (off_t)CHECKPOINT_END_MAX ? st.st_size - (off_t)CHECKPOINT_END_MAX
							   : 0,
		    &piece, err) < 0)
		return -1;
	there = has_line(&piece, line);
	free(piece.text);
	return there;
}

static int read_piece(int fd, struct checkpoint_piece *piece)
{
	size_t most = (size_t)(piece->of - piece->at);

	if (most > CHECKPOINT_PIECE_MAX)
		most = CHECKPOINT_PIECE_MAX;
	piece->text = calloc(1, most + 1);
	if (!piece->text)
		return -1;
	while (piece->len < most) {
		ssize_t got = pread(fd, piece->text + piece->len, most - piece->len,
			piece->at + (off_t)piece->len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		piece->len += (size_t)got;
	}
	return 0;
}

int checkpoint_file_read(
	const char *path, int64_t at, struct checkpoint_piece *ret_piece, struct err *err)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct checkpoint_piece piece = { NULL, 0, 0, 0 };
	struct stat st;

	if ((fd < 0 && errno != ENOENT) || (fd >= 0 && fstat(fd, &st) < 0))
		return err_sys(err, "%s", path);
	if (fd >= 0 && !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a regular file", path);
	piece.of = fd < 0 ? 0 : st.st_size;
	piece.at = at >= 0 ? at : piece.of - (int64_t)CHECKPOINT_PIECE_MAX;
	if (piece.at < 0)
		piece.at = 0;
	if (piece.at > piece.of)
		piece.at = piece.of;
	if (read_piece(fd, &piece) < 0) {
		free(piece.text);
		return err_sys(err, "%s", path);
	}
	*ret_piece = piece;
	return 0;
}
