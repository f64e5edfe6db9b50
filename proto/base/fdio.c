#include "proto/base/fdio.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"

#define READ_FILE_STEP ((size_t)16 << 10)

/* ---- whole writes and reads -------------------------------------------------------------- */

/*
 * Calls write(2) on something that is not a socket, and consumes the SIGPIPE that the write may
 * raise.
 */
static ssize_t write_quietly(int fd, const void *bytes, size_t len)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t pipe_only;
	sigset_t before;
	sigset_t pending;
	ssize_t written;
	int sys_errno;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigemptyset(&pending);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	(void)sigpending(&pending);

	written = write(fd, bytes, len);
	sys_errno = errno;
	if (written < 0 && sys_errno == EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&pipe_only, NULL, &at_once);

	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = sys_errno;
	return written;
}

static ssize_t write_some(int fd, const char *bytes, size_t len, bool *is_socket)
{
	if (*is_socket) {
		struct iovec part = { (void *)(uintptr_t)bytes, len };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);

		if (sent >= 0 || errno != ENOTSOCK)
			return sent;
		*is_socket = false;
	}
	return write_quietly(fd, bytes, len);
}

int write_all(int fd, const void *bytes, size_t len, struct err *err)
{
	const char *rest = bytes;
	bool is_socket = true; /* until sendmsg() fails with ENOTSOCK */

	while (len > 0) {
		ssize_t written = write_some(fd, rest, len, &is_socket);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return err_sys(err, "write");
		rest += written;
		len -= (size_t)written;
	}
	return 0;
}

int read_all(int fd, void *bytes, size_t len, struct err *err)
{
	char *rest = bytes;

	while (len > 0) {
		ssize_t got = read(fd, rest, len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "read");
		if (got == 0)
			return err_set(
				err, ERR_CLOSED, "read: the stream ended %zu bytes early", len);
		rest += got;
		len -= (size_t)got;
	}
	return 0;
}

/* Reads to the end.  The buffer has room for one byte past the ceiling, to detect a longer file. */
static int read_to_end(int fd, size_t ceiling, struct buf *buf, struct err *err)
{
	for (;;) {
		size_t room = ceiling - buf->len + 1;
		ssize_t got;

		if (room > READ_FILE_STEP)
			room = READ_FILE_STEP;
		if (buf_reserve(buf, room) < 0)
			return err_set(err, ERR_MEMORY, "no memory for a file");

		got = read(fd, buf->bytes + buf->len, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "read");
		if (got == 0)
			return 0;
		buf->len += (size_t)got;
		if (buf->len > ceiling)
			return err_set(err, ERR_TOO_BIG, "file has more than %zu bytes", ceiling);
	}
}

/* O_NONBLOCK: without it, open() would wait if the path names a fifo. */
static int open_regular(const char *path, struct err *err)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_MISSING, "file does not exist");
	if (fd < 0)
		return err_sys(err, "open");
	if (fstat(fd, &status) < 0)
		return err_sys(err, "fstat");
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_INVALID, "not a regular file");
	return take_fd(&fd);
}

int read_file(const char *path, size_t ceiling, char **ret_text, size_t *ret_len, struct err *err)
{
	auto_fd int fd = -1;
	struct buf buf;
	size_t len = 0;
	int read_whole;

	assert(ceiling < SIZE_MAX - READ_FILE_STEP);
	fd = open_regular(path, err);
	if (fd < 0)
		return err_wrap(err, "%s", path);

	/* leaves room for the NUL and for one byte past the ceiling */
	buf_init(&buf, ceiling + READ_FILE_STEP);
	read_whole = read_to_end(fd, ceiling, &buf, err);
	if (read_whole < 0) {
		buf_done(&buf);
		return err_wrap(err, "%s", path);
	}

	if (buf_append_byte(&buf, 0) < 0) {
		buf_done(&buf);
		return err_set(err, ERR_MEMORY, "%s: no memory for a file", path);
	}
	*ret_text = buf_take(&buf, &len);
	*ret_len = len - 1;
	return 0;
}

int fd_set_nonblocking(int fd, bool on, struct err *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return err_sys(err, "fcntl F_GETFL");
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	if (fcntl(fd, F_SETFL, flags) < 0)
		return err_sys(err, "fcntl F_SETFL");
	return 0;
}
