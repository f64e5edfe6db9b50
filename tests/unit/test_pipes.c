#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/egress/pipes.h"
#include "tests/check.h"

TEST(pipes_are_wide_and_used_again)
{
	struct pipe *pipe = pipes_take();
	const int from = pipe ? pipe->from : -1;

	CHECK(pipe && fcntl(pipe->to, F_GETPIPE_SZ) >= (int)PIPE_BYTES);
	CHECK(pipe && fcntl(pipe->to, F_GETFL) & O_NONBLOCK);
	pipes_give(pipe, true);
	CHECK(pipes_take() == pipe && pipe->from == from && fcntl(from, F_GETFD) == FD_CLOEXEC);
	pipes_give(pipe, true);
}

TEST(bytes_of_one_connection_never_reach_another)
{
	struct pipe *pipe = pipes_take();
	char byte;

	CHECK(write(pipe->to, "x", 1) == 1);
	pipes_give(pipe, false);
	CHECK(pipes_take() == pipe);
	CHECK(read(pipe->from, &byte, 1) < 0);
	pipes_give(pipe, true);
}

TEST(there_is_a_last_one)
{
	struct pipe *taken[PIPES_MOST];

	for (size_t i = 0; i < PIPES_MOST; i++) {
		taken[i] = pipes_take();
		CHECK(taken[i] != NULL);
		for (size_t j = 0; j < i; j++)
			CHECK(taken[i] != taken[j]);
	}
	CHECK(!pipes_take());
	pipes_give(taken[7], true);
	CHECK(pipes_take() == taken[7]);
	for (size_t i = 0; i < PIPES_MOST; i++)
		pipes_give(taken[i], false);
}

TEST(without_descriptors_there_is_none)
{
	struct rlimit was, none;
	struct pipe *pipe;

	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	none = (struct rlimit){ 0, was.rlim_max };
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	CHECK(!pipes_take());
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	pipe = pipes_take();
	CHECK(pipe != NULL);
	pipes_give(pipe, true);
}
