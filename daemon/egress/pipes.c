#include "daemon/egress/pipes.h"

#include <fcntl.h>
#include <unistd.h>

static struct pipe pipes[PIPES_MOST];
static size_t count; /* of those that were ever made; the others are zero */

static void close_both(struct pipe *pipe)
{
	close(pipe->from);
	close(pipe->to);
	*pipe = (struct pipe){ -1, -1, false };
}

static bool make(struct pipe *pipe)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	*pipe = (struct pipe){ ends[0], ends[1], false };
	if (fcntl(pipe->to, F_SETPIPE_SZ, PIPE_BYTES) >= 0)
		return true;
	/* One that is narrow wakes its neighbours so often that copying is faster. */
	close_both(pipe);
	return false;
}

struct pipe *pipes_take(void)
{
	struct pipe *unmade = NULL;

	for (size_t i = 0; i < count; i++) {
		if (pipes[i].is_taken)
			continue;
		if (pipes[i].from >= 0) {
			pipes[i].is_taken = true;
			return &pipes[i];
		}
		unmade = &pipes[i];
	}
	if (!unmade && count < PIPES_MOST) {
		unmade = &pipes[count++];
		*unmade = (struct pipe){ -1, -1, false };
	}
	if (!unmade || !make(unmade))
		return NULL;
	unmade->is_taken = true;
	return unmade;
}

void pipes_give(struct pipe *pipe, bool is_empty)
{
	pipe->is_taken = false;
	if (!is_empty)
		close_both(pipe);
}
