#include "sandbox/jail/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/owned.h"
#include "sandbox/child_exit.h"

/* From child_go() to exec.  A folder on a dead network file system must not block the spawner. */
#define START_S 10

/* In the child.  A parent that is gone counts as a refusal. */
static void wait_and_enter(const struct jail_spec *spec, int ours, int theirs)
{
	char word;

	close(ours);
	if (read(theirs, &word, 1) != 1)
		child_exit(127);
	jail_enter(spec, theirs);
}

int child_begin(struct child *child, const struct jail_spec *spec, struct err *err)
{
	const struct timeval patience = { START_S, 0 };
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	ours = pair[0];
	theirs = pair[1];
	if (setsockopt(ours, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return err_sys(err, "socketpair");

	child->pid = ns_clone(NS_JAIL & ~spec->profile->shared, &child->pidfd, err);
	if (child->pid == 0)
		wait_and_enter(spec, ours, theirs);
	if (child->pid < 0) {
		*child = (struct child)CHILD_INIT;
		return -1;
	}
	child->start = take_fd(&ours);
	return 0;
}

/* The stream ends empty when the program has started. */
int child_go(struct child *child, struct err *err)
{
	auto_fd int start = take_fd(&child->start);
	char text[JAIL_STATUS_MAX] = "";
	ssize_t len;

	if (write(start, "g", 1) != 1)
		return err_sys(err, "go");
	len = read(start, text, sizeof(text) - 1);
	if (len < 0 && errno == EAGAIN)
		return err_set(err, ERR_TIMEOUT, "no start within %d seconds", START_S);
	if (len < 0)
		return err_sys(err, "start");
	return len == 0 ? 0 : err_set(err, ERR_SYSTEM, "%s", text);
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
	cleanup_fd(&child->start);
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
