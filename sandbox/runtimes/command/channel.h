/*
 * A process's end of a channel to the daemon (daemon/runs/channels.h), for small programs that a shell
 * starts: one message goes, one answer comes.
 *
 * Channels come over a socket that the program inherits.  A run names it in its environment.  The
 * environment of a shell that runs already cannot be changed from outside, so in a session the
 * socket has a number of its own.
 */
#pragma once

#include <stddef.h>

#include "proto/internal/slotmsg.h"

#define CHANNEL_ENV        "CED_CALLS_FD"
#define CHANNEL_FD_SESSION 198 /* high, where scripts have no descriptors; below the job socket */

/* What such a program exits with. */
enum {
	CHANNEL_RESULT = 0,
	CHANNEL_ERROR = 1, /* the answer is an error, which is on stderr as JSON */
	CHANNEL_USAGE = 64,
	CHANNEL_NOBODY = 69,
};

/* A message: a name, NUL, content. */
struct channel_message {
	enum job_kind kind;
	char *body; /* malloc */
	size_t len;
};

/*
 * Makes the body of `text`, or of what `fd` has up to its end if that is NULL.  -1: it has more than
 * `most` bytes, or there is no memory.
 */
int channel_write(
	struct channel_message *message, const char *name, const char *text, int fd, size_t most);

/*
 * Sends the message and shows its answer: a result on stdout, unless it is empty, and an error on
 * stderr.  `program` is what sends it.
 */
int channel_ask(const char *program, const struct channel_message *message);

/* Says on stderr what is wrong, and returns the status. */
int channel_complain(const char *program, int status, const char *what);
