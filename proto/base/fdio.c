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

/* write(2) to something that is not a socket; a SIGPIPE that it raises is taken away again. */
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
	bool is_socket = true; /* until the kernel says otherwise */

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

/* Reads to the end.  One byte more than the ceiling has room, so that its passing is seen. */
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

/* O_NONBLOCK: a fifo under this name must not make us wait before we have seen what it is. */
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

	buf_init(&buf, ceiling + READ_FILE_STEP); /* the NUL and the byte too many fit as well */
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

/* ---- descriptors that travel -------------------------------------------------------------- */

/* A control buffer is read and written through struct cmsghdr, so it has its alignment. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int) * FDIO_FDS_MAX)];
};

static int from_errno(struct err *err, const char *what)
{
	if (errno == EAGAIN)
		return err_set(err, ERR_BUSY, "%s: not ready", what);
	if (errno == EPIPE || errno == ECONNRESET)
		return err_set(err, ERR_CLOSED, "%s: the peer has gone", what);
	return err_sys(err, "%s", what);
}

static void attach(struct msghdr *message, union control *control, const int *fds, size_t fd_count)
{
	struct cmsghdr *head;

	message->msg_control = control->bytes;
	message->msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
	head = CMSG_FIRSTHDR(message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
	memcpy(CMSG_DATA(head), fds, sizeof(int) * fd_count);
}

ssize_t send_with_fds(
	int sock, const void *bytes, size_t len, const int *fds, size_t fd_count, struct err *err)
{
	union control control = { .bytes = { 0 } };
	struct iovec part = { (void *)(uintptr_t)bytes, len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (fd_count > FDIO_FDS_MAX)
		return err_set(err, ERR_INVALID, "%zu descriptors are too many", fd_count);
	if (fd_count > 0)
		attach(&message, &control, fds, fd_count);

	do
		sent = sendmsg(sock, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? from_errno(err, "sendmsg") : sent;
}

/* Gathers all descriptors of a message; the control buffer has no room for more than fit in fds. */
static size_t detach(struct msghdr *message, int fds[FDIO_FDS_MAX])
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	size_t count = 0;

	for (; head; head = CMSG_NXTHDR(message, head)) {
		size_t here = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		assert(count + here <= FDIO_FDS_MAX);
		memcpy(fds + count, CMSG_DATA(head), here * sizeof(int));
		count += here;
	}
	return count;
}

ssize_t recv_with_fds(int sock, void *bytes, size_t size, int *ret_fds, size_t fd_max,
	size_t *ret_fd_count, struct err *err)
{
	union control control = { .bytes = { 0 } };
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	int fds[FDIO_FDS_MAX];
	size_t count;
	ssize_t got;

	do
		got = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return from_errno(err, "recvmsg");

	count = detach(&message, fds);
	if (count > fd_max || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		close_fds(fds, count);
		return err_set(err, ERR_PROTOCOL, "recvmsg: too many %s",
			message.msg_flags & MSG_TRUNC ? "bytes" : "descriptors");
	}
	if (count > 0)
		memcpy(ret_fds, fds, count * sizeof(int));
	*ret_fd_count = count;
	return got;
}

void close_fds(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}
