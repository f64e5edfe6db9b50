/*
 * Pipes through which bytes go from one socket to another by splice(), which copies none of them.  A
 * connection has one only while there are bytes in it, so that those at rest hold none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PIPES_MOST \
	((size_t)32) /* the kernel gives a user 64 MiB of pipes, and narrow ones after that */
#define PIPE_BYTES ((size_t)1 << 20)

struct pipe {
	int from, to; /* to read from, to write to */
	bool is_taken;
};

/* An empty pipe.  NULL: no other is to be had now. */
struct pipe *pipes_take(void);

/* A pipe that is not empty is closed. */
void pipes_give(struct pipe *pipe, bool is_empty);
