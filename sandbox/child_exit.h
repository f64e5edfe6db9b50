/*
 * How every forked child of ours exits: without atexit handlers and buffers, which belong to the
 * parent, but with its coverage counters written.
 */
#pragma once

#include <unistd.h>

#ifdef CED_COVERAGE
void __gcov_dump(void);
#endif

__attribute__((noreturn)) static inline void child_exit(int status)
{
#ifdef CED_COVERAGE
	__gcov_dump();
#endif
	_exit(status);
}
