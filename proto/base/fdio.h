/*
 * Descriptors: complete reads and writes.  All functions retry after EINTR.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/base/fdpass.h"

/* Writes all bytes and waits as needed.  `fd` must be blocking. */
int write_all(int fd, const void *bytes, size_t len, struct err *err);

/* Reads exactly `len` bytes.  Fails with ERR_CLOSED when the stream ends earlier. */
int read_all(int fd, void *bytes, size_t len, struct err *err);

/*
 * Reads a whole regular file of at most `ceiling` bytes.  Returns a malloc'ed, NUL-terminated text.
 */
int read_file(const char *path, size_t ceiling, char **ret_text, size_t *ret_len, struct err *err);

int fd_set_nonblocking(int fd, bool on, struct err *err);
