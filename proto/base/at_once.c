#include "proto/base/at_once.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

bool write_at_once(int fd, const void *bytes, size_t len)
{
	/*
	 * Something that is not a socket has no flag for one write, and others may share its file.
	 * So it stays as it is, and is asked first.
	 */
	struct pollfd look = { .fd = fd, .events = POLLOUT };
	ssize_t written = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (written < 0 && errno == ENOTSOCK && poll(&look, 1, 0) > 0)
		written = write(fd, bytes, len);
	return written == (ssize_t)len;
}
