/*
 * Which shared libraries a program needs, as the loader itself says: what ldd(1) asks.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define NEEDS_LOADER "/lib64/ld-linux-x86-64.so.2"

/*
 * Runs a program, as a child without rights and descriptors, and keeps what it prints on stdout, at
 * most `size` - 1 bytes, ended with a NUL.  Returns its exit status, or -1.  `argv[0]` is its path.
 */
int needs_run(const char *const *argv, char *ret_text, size_t size, struct err *err);

/*
 * Calls `found` for each library of `program`, by its path, until one says -1.  A program that is
 * linked statically, or is none, needs nothing.
 */
int needs_of(const char *program, int (*found)(void *context, const char *library, struct err *err),
	void *context, struct err *err);
