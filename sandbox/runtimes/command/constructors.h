/*
 * Code that the loader runs before an interpreter begins: constructors of its libraries.
 *
 * An interpreter that is started before its job comes has run them without the job's environment, arguments
 * and files.  So it may have none but those of the C library and of ours, and those that the compiler adds to
 * every library, which do nothing.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether a library that is loaded has constructors of its own.  `in_libc` is an address in the C library.
 * What is not known to do nothing is taken for one.
 */
bool constructors_have_run(const void *in_libc);
