/*
 * Messages that are dropped rather than waited for (docs/decisions/0152).
 */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/*
 * Writes a line of at most PIPE_BUF bytes, if that needs no wait.  Fails with ERR_BUSY when nobody
 * reads.  When another process fills a pipe in the same moment, it waits all the same.
 */
int write_at_once(int fd, const void *bytes, size_t len, struct err *err);
