/* Small texts from a procfs that is reachable by descriptor only. */
#pragma once

#include <stddef.h>

#include "proto/base/err.h"

/* Reads the file `path` below `proc` until its end or until `size` - 1 bytes; ends it with a NUL. */
int procfs_read(int proc, const char *path, char *ret_text, size_t size, struct err *err);
