#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "tests/check.h"

TEST(a_signal_that_came_before_ends_the_wait_at_once)
{
	int pipes[2];
	struct pollfd poll_fd = { .events = POLLIN };
	sigset_t after;

	CHECK_EQ_INT(pipe(pipes), 0);
	poll_fd.fd = pipes[0];
	interrupt_catch();
	CHECK_EQ_INT(raise(SIGINT), 0);
	CHECK_EQ_INT(interrupt_poll(&poll_fd, 1, -1), -1);
	CHECK_EQ_INT(errno, EINTR);
	CHECK_EQ_INT(interrupt_noted(), SIGINT);
	interrupt_forget();
	CHECK_EQ_INT(interrupt_poll(&poll_fd, 1, 1), 0);
	CHECK_EQ_INT(write(pipes[1], "x", 1), 1);
	CHECK_EQ_INT(interrupt_poll(&poll_fd, 1, -1), 1);
	CHECK_EQ_INT(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	CHECK(!sigismember(&after, SIGINT) && !sigismember(&after, SIGTERM));
	interrupt_release();
	close(pipes[0]);
	close(pipes[1]);
}

TEST(a_signal_from_another_process_ends_the_wait_whenever_it_comes)
{
	int pipes[2];
	struct pollfd poll_fd = { .events = POLLIN };
	pid_t child;

	CHECK_EQ_INT(pipe(pipes), 0);
	poll_fd.fd = pipes[0];
	interrupt_catch();
	child = fork();
	if (child == 0)
		_exit(kill(getppid(), SIGTERM) != 0);
	CHECK(child > 0);
	CHECK_EQ_INT(interrupt_poll(&poll_fd, 1, -1), -1);
	CHECK_EQ_INT(interrupt_noted(), SIGTERM);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	interrupt_forget();
	interrupt_release();
	close(pipes[0]);
	close(pipes[1]);
}
