/* Reads small texts of a procfs that is reachable only by descriptor. */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/*
 * Reads the file `path` below `proc` until its end or until `size` - 1 bytes; ends it with a NUL.
 */
int procfs_read(int proc, const char *path, char *ret_text, size_t size, struct err *err);

/* Calls `visit` for each line of the caller's own maps, until one returns -1. */
int procfs_each_mapping(int proc, int (*visit)(void *context, const char *line, struct err *err),
	void *context, struct err *err);
