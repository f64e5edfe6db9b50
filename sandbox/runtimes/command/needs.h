/* The shared libraries that a program needs, as the loader reports them (like ldd(1)). */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define NEEDS_LOADER "/lib64/ld-linux-x86-64.so.2"

/*
 * Runs a program as a child without rights and descriptors.  Keeps at most `size` - 1 bytes of its
 * stdout, ended by a NUL. Returns its exit status, or -1.  `argv[0]` is its path.
 */
int needs_run(const char *const *argv, char *ret_text, size_t size, struct err *err);

/*
 * Calls `found` with the path of each library of `program`, until one call returns -1.  A file that
 * is linked statically, or is no program, needs none.
 */
int needs_of(const char *program, int (*found)(void *context, const char *library, struct err *err),
	void *context, struct err *err);
