/*
 * Passing descriptors over Unix sockets, and closing them.  All functions retry after EINTR.  None of
 * them raises SIGPIPE.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define FDIO_FDS_MAX 32 /* descriptors that one message may carry */

/*
 * Sends one message with descriptors over a Unix socket (MSG_NOSIGNAL).  The caller keeps its
 * descriptors.  On a stream socket fewer bytes may be sent; the caller then sends the rest.
 * Returns the number of bytes sent, or -1.  When a non-blocking socket is full: -1 and ERR_BUSY.
 */
ssize_t send_with_fds(
	int sock, const void *bytes, size_t len, const int *fds, size_t fd_count, struct err *err);

/*
 * Receives one message.  The caller owns the received descriptors, which are close-on-exec.  More
 * than `fd_max` descriptors, or a truncated message, close all of them and fail with ERR_PROTOCOL.
 * When this process has no free descriptors left, the message is lost with ERR_MEMORY.  Returns the
 * number of bytes, 0 at the end of the stream, -1 on failure (ERR_BUSY: nothing has arrived yet).
 */
ssize_t recv_with_fds(int sock, void *bytes, size_t size, int *ret_fds, size_t fd_max,
	size_t *ret_fd_count, struct err *err);

void close_fds(int *fds, size_t count);
