/*
 * Local variables that are released automatically at the end of their block.
 *
 * A local that owns something is marked at its declaration and starts out empty.  The compiler
 * releases it at the end of its block, on every path.  To pass ownership on, use take_ptr() or
 * take_fd(), which leave the local empty.
 *
 *	auto_free char *text = NULL;
 *	auto_fd int fd = -1;
 *	auto_of(thing_free) struct thing *thing = NULL;
 *
 *	*ret_text = take_ptr(text);
 */
#pragma once

#include "proto/base/owned.h"

#define auto_of(free_function) __attribute__((cleanup(auto_##free_function)))

/* Defines the helper that auto_of(name) needs.  Use it once, beside the declaration of `name`. */
#define AUTO_DEFINE(type, name)                     \
	static inline void auto_##name(type **held) \
	{                                           \
		if (*held)                          \
			name(*held);                \
	}                                           \
	_Static_assert(1, "a semicolon follows AUTO_DEFINE")
