#include "sandbox/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "sandbox/child_exit.h"

/* From clone to exec; a folder on a dead network file system must not hold up the house. */
#define START_MS 10000

struct pipe_ends {
	int in; /* read here */
	int out;
};

static int make_pipe(struct pipe_ends *ret_ends, struct err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	*ret_ends = (struct pipe_ends){ fds[0], fds[1] };
	return 0;
}

static void close_pipe(const struct pipe_ends *ends)
{
	cleanup_fd(&ends->in);
	cleanup_fd(&ends->out);
}

/* In the child: nothing before the word of the parent; its end of the pipe means the same as no. */
static void wait_and_enter(
	const struct jail_spec *spec, const struct pipe_ends *go, const struct pipe_ends *status)
{
	char word;

	close(go->out);
	close(status->in);
	if (read(go->in, &word, 1) != 1)
		child_exit(127);
	jail_enter(spec, status->out);
}

/* The pipe ends without a word when the program has started. */
static int wait_for_program(int status, struct err *err)
{
	int64_t deadline_ms = clock_ms() + START_MS;
	char text[JAIL_STATUS_MAX] = "";
	struct pollfd pipe = { .fd = status, .events = POLLIN };
	ssize_t len;
	int ready;

	do {
		int64_t left_ms = deadline_ms - clock_ms();

		ready = poll(&pipe, 1, left_ms > 0 ? (int)left_ms : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return err_set(err, ERR_TIMEOUT, "no start within %d ms", START_MS);

	len = read(status, text, sizeof(text) - 1);
	if (len < 0)
		return err_sys(err, "status pipe");
	return len == 0 ? 0 : err_set(err, ERR_SYSTEM, "%s", text);
}

static int bring_up(const struct child *child, const struct id_maps *maps,
	const struct child_settle *settle, struct pipe_ends *go, struct pipe_ends *status,
	struct err *err)
{
	if (ns_write_maps(child->pid, maps, err) < 0)
		return -1;
	if (settle && settle->run(settle->context, child->pid, err) < 0)
		return -1;
	if (write(go->out, "g", 1) != 1)
		return err_sys(err, "go");
	/* Ours must be closed, or the end of the stream never comes. */
	close(status->out);
	status->out = -1;
	return wait_for_program(status->in, err);
}

int child_start(struct child *child, const struct jail_spec *spec, const struct id_maps *maps,
	const struct child_settle *settle, struct err *err)
{
	__attribute__((cleanup(close_pipe))) struct pipe_ends go = { -1, -1 };
	__attribute__((cleanup(close_pipe))) struct pipe_ends status = { -1, -1 };

	if (make_pipe(&go, err) < 0 || make_pipe(&status, err) < 0)
		return -1;
	child->pid = ns_clone(&child->pidfd, err);
	if (child->pid < 0) {
		*child = (struct child)CHILD_INIT;
		return -1;
	}
	if (child->pid == 0)
		wait_and_enter(spec, &go, &status);

	if (bring_up(child, maps, settle, &go, &status, err) < 0) {
		child_end(child);
		return err_wrap(err, "%s", spec->profile->name);
	}
	return 0;
}

int child_signal(const struct child *child, int signal, struct err *err)
{
	if (child->pidfd < 0)
		return 0;
	if (syscall(SYS_pidfd_send_signal, child->pidfd, signal, NULL, 0) < 0 && errno != ESRCH)
		return err_sys(err, "signal %d", signal);
	return 0;
}

static void forget(struct child *child)
{
	cleanup_fd(&child->pidfd);
	*child = (struct child)CHILD_INIT;
}

bool child_reap(struct child *child, int *ret_status)
{
	if (child->pid <= 0 || waitpid(child->pid, ret_status, WNOHANG) != child->pid)
		return false;
	forget(child);
	return true;
}

void child_end(struct child *child)
{
	if (child->pid <= 0)
		return;
	(void)child_signal(child, SIGKILL, NULL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	forget(child);
}
