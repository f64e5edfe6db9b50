/* Starts a program and takes what it prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

struct command_line {
	const char *const *argv; /* argv[0] is the program's path */
	bool as_nobody;          /* when root asks: without rights, as the daemon's user has none */
	bool with_stderr;        /* what it prints there is taken too */
	unsigned seconds;        /* it is killed after that */
};

/*
 * Returns its wait status and what it printed, cut to `size` and ended by a NUL.  -1 when it could
 * not be started.
 */
int command_run(const struct command_line *line, char *ret_text, size_t size, struct err *err);
