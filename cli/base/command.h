/* Starts a program and captures its output. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/err.h"

struct command_line {
	const char *const *argv; /* argv[0] is the program's path */
	bool as_daemon;          /* root starts it as the daemon's user: ced, else nobody */
	bool with_stderr;        /* its stderr is captured too */
	unsigned seconds;        /* it is killed after that */
};

/* Who the daemon is when this user starts ced-spawner. */
void command_daemon_ids(uid_t *ret_uid, gid_t *ret_gid);

/*
 * Returns its wait status and its output, cut to `size` and ended by a NUL.  `ret_len` may be
 * NULL.  -1 when it could not be started.
 */
int command_run(const struct command_line *line, char *ret_text, size_t size, size_t *ret_len,
	struct err *err);
