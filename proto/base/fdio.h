/*
 * Descriptors: reads and writes in full, and descriptors that travel over Unix sockets.
 * All of them take up EINTR; none of them raises SIGPIPE.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define FDIO_FDS_MAX 32 /* descriptors that one message may carry */

/* Writes all bytes, waiting as needed.  For blocking descriptors. */
int write_all(int fd, const void *bytes, size_t len, struct err *err);

/* Reads exactly `len` bytes; ERR_CLOSED when the stream ends before. */
int read_all(int fd, void *bytes, size_t len, struct err *err);

/* Reads a whole regular file of at most `ceiling` bytes.  Gives a malloc'ed, NUL-terminated text. */
int read_file(const char *path, size_t ceiling, char **ret_text, size_t *ret_len, struct err *err);

int fd_set_nonblocking(int fd, bool on, struct err *err);

/*
 * Sends one message with descriptors over a Unix socket (MSG_NOSIGNAL).  The descriptors are
 * borrowed.  On a stream socket the caller sends the rest when fewer bytes went out.
 * Returns bytes sent, or -1; with a non-blocking socket that is full: -1 and ERR_BUSY.
 */
ssize_t send_with_fds(
	int sock, const void *bytes, size_t len, const int *fds, size_t fd_count, struct err *err);

/*
 * Receives one message; descriptors arrive close-on-exec and are given to the caller.  More than
 * `fd_max` descriptors, or a truncated message, close all of them and fail with ERR_PROTOCOL.  Where
 * the kernel could not give us all descriptors for want of room, the message is lost with ERR_MEMORY.
 * Returns bytes, 0 at the end of the stream, -1 on failure (ERR_BUSY: nothing there yet).
 */
ssize_t recv_with_fds(int sock, void *bytes, size_t size, int *ret_fds, size_t fd_max,
	size_t *ret_fd_count, struct err *err);

void close_fds(int *fds, size_t count);
