#include "daemon/workers/worker_pipes.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

static int open_socket(struct pipe_ends *pipe)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	*pipe = (struct pipe_ends){ .ours = ends[0], .theirs = ends[1] };
	return 0;
}

static int open_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

static int no_pipes(struct err *err)
{
	return err_sys(err, "the daemon cannot make pipes for a worker");
}

static int open_output(struct worker_pipes *pipes, struct err *err)
{
	if (open_pipe(&pipes->out.ours, &pipes->out.theirs) < 0 ||
		open_pipe(&pipes->errout.ours, &pipes->errout.theirs) < 0)
		return no_pipes(err);
	if (fd_set_nonblocking(pipes->out.ours, true, err) < 0 ||
		fd_set_nonblocking(pipes->errout.ours, true, err) < 0)
		return -1;
	return 0;
}

static int open_all(struct worker_pipes *pipes, struct err *err)
{
	if (open_socket(&pipes->job) < 0 ||
		open_pipe(&pipes->lifeline.theirs, &pipes->lifeline.ours) < 0)
		return no_pipes(err);
	if (fd_set_nonblocking(pipes->job.ours, true, err) < 0)
		return -1;
	return open_output(pipes, err);
}

static int open_or_close(struct worker_pipes *pipes,
	int (*open)(struct worker_pipes *pipes, struct err *err), struct err *err)
{
	*pipes = (struct worker_pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (open(pipes, err) == 0)
		return 0;
	worker_pipes_close(pipes);
	return -1;
}

int worker_pipes_open(struct worker_pipes *pipes, struct err *err)
{
	return open_or_close(pipes, open_all, err);
}

int worker_pipes_open_output(struct worker_pipes *pipes, struct err *err)
{
	return open_or_close(pipes, open_output, err);
}

static void close_end(int *end)
{
	if (*end >= 0)
		close(take_fd(end));
}

void worker_pipes_close_theirs(struct worker_pipes *pipes)
{
	close_end(&pipes->job.theirs);
	close_end(&pipes->out.theirs);
	close_end(&pipes->errout.theirs);
	close_end(&pipes->lifeline.theirs);
}

void worker_pipes_close(struct worker_pipes *pipes)
{
	worker_pipes_close_theirs(pipes);
	close_end(&pipes->job.ours);
	close_end(&pipes->out.ours);
	close_end(&pipes->errout.ours);
	close_end(&pipes->lifeline.ours);
}
