#include "proto/base/at_once.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Something that is not a socket has no flag for one write, and others may share its file.  So it
 * stays as it is, and is asked first.
 */
static ssize_t write_if_ready(int fd, const void *bytes, size_t len)
{
	struct pollfd look = { .fd = fd, .events = POLLOUT };
	int ready = poll(&look, 1, 0);

	if (ready == 0)
		errno = EAGAIN;
	return ready > 0 ? write(fd, bytes, len) : -1;
}

int write_at_once(int fd, const void *bytes, size_t len, struct err *err)
{
	ssize_t written;

	do {
		written = sendto(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
		if (written < 0 && errno == ENOTSOCK)
			written = write_if_ready(fd, bytes, len);
	} while (written < 0 && errno == EINTR);
	if (written < 0 && errno != EAGAIN)
		return err_sys(err, "write");
	if (written < (ssize_t)len)
		return err_set(err, ERR_BUSY, "nobody reads");
	return 0;
}
