/*
 * Writes a line of at most PIPE_BUF bytes if that needs no wait (docs/decisions/0152).  When another
 * process fills a pipe in the same moment, it waits all the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* False: nobody reads, or there is an error. */
bool write_at_once(int fd, const void *bytes, size_t len);
