#include "daemon/workers/ways.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

static int open_socket(struct way *way)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	*way = (struct way){ .ours = ends[0], .theirs = ends[1] };
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

static int open_all(struct ways *ways, struct err *err)
{
	if (open_socket(&ways->job) < 0 || open_pipe(&ways->out.ours, &ways->out.theirs) < 0 ||
		open_pipe(&ways->errout.ours, &ways->errout.theirs) < 0 ||
		open_pipe(&ways->lifeline.theirs, &ways->lifeline.ours) < 0)
		return err_sys(err, "pipes for a worker");
	if (fd_set_nonblocking(ways->job.ours, true, err) < 0 ||
		fd_set_nonblocking(ways->out.ours, true, err) < 0 ||
		fd_set_nonblocking(ways->errout.ours, true, err) < 0)
		return -1;
	return 0;
}

int ways_open(struct ways *ways, struct err *err)
{
	*ways = (struct ways){ { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (open_all(ways, err) == 0)
		return 0;
	ways_close(ways);
	return -1;
}

static void close_end(int *end)
{
	if (*end >= 0)
		close(take_fd(end));
}

void ways_close_theirs(struct ways *ways)
{
	close_end(&ways->job.theirs);
	close_end(&ways->out.theirs);
	close_end(&ways->errout.theirs);
	close_end(&ways->lifeline.theirs);
}

void ways_close(struct ways *ways)
{
	ways_close_theirs(ways);
	close_end(&ways->job.ours);
	close_end(&ways->out.ours);
	close_end(&ways->errout.ours);
	close_end(&ways->lifeline.ours);
}
