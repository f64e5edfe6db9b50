/* Passing of descriptors: the half of fdio.h that the privileged programs link. */
#include "proto/base/fdpass.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * The union gives the control buffer the alignment of struct cmsghdr, through which it is accessed.
 */
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

/*
 * Collects all descriptors of a message.  The control buffer has no room for more than `fds` holds.
 */
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

/* recvmsg(2) needs these seven parameters.  NOLINTNEXTLINE(readability-function-size) */
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
		/*
		 * The kernel truncates when the sender passed too many descriptors, or when this
		 * process has no free ones.  Tell the two apart.
		 */
		if (!(message.msg_flags & MSG_TRUNC) && count < FDIO_FDS_MAX && count <= fd_max)
			return err_set(err, ERR_MEMORY, "recvmsg: no descriptor is left");
		return err_set(err, ERR_PROTOCOL, "recvmsg: too many bytes or descriptors");
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
