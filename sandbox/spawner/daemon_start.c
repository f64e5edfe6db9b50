#include "sandbox/spawner/daemon_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "proto/base/owned.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail/caps.h"
#include "sandbox/jail/ns.h"
#include "sandbox/spawner/say.h"

#define FIRST_FD 3 /* behind stdin, stdout and stderr */

static int become_user(const struct daemon_start *start, struct err *err)
{
	if (!start->changes_user)
		return 0;
	/* The spawner dropped its other groups when it started. */
	if (setresgid(start->gid, start->gid, start->gid) < 0 ||
		setresuid(start->uid, start->uid, start->uid) < 0)
		return err_sys(err, "become uid %u", (unsigned)start->uid);
	return caps_check_none(err);
}

/* Descriptors 0 to 2, then those of the service manager, then the socket; no other. */
static int place_fds(const struct daemon_start *start, struct err *err)
{
	int place = FIRST_FD + (int)start->listen_fds;

	if (start->sock == place ? fcntl(place, F_SETFD, 0) < 0 : dup2(start->sock, place) < 0)
		return err_sys(err, "socket");
	if (close_range((unsigned)place + 1, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return 0;
}

/* The service manager's variables for descriptors and watchdog name a pid, which now is ced's. */
static int hand_on_words(const struct daemon_start *start, struct err *err)
{
	char pid[16];

	cut_printf(pid, sizeof(pid), "%d", (int)getpid());
	if ((start->listen_fds > 0 && setenv("LISTEN_PID", pid, 1) < 0) ||
		(getenv("WATCHDOG_PID") && setenv("WATCHDOG_PID", pid, 1) < 0))
		return err_sys(err, "LISTEN_PID, WATCHDOG_PID");
	return 0;
}

static int tie_to_parent(pid_t parent, struct err *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(err, "parent death signal");
	if (getppid() != parent)
		return err_set(err, ERR_CLOSED, "the spawner has gone");
	return 0;
}

static int run_program(const struct daemon_start *start, int program, struct err *err)
{
	static char name[] = "ced";
	static char option[] = "--spawner-fd";
	char fd[16];
	char *argv[DAEMON_ARGS_MAX + 4] = { name, option, fd };

	cut_printf(fd, sizeof(fd), "%d", FIRST_FD + (int)start->listen_fds);
	for (size_t i = 0; i < DAEMON_ARGS_MAX && start->args[i]; i++)
		argv[3 + i] = start->args[i];
	execve(start->program, argv, environ);
	/* By descriptor, this works in a folder that the daemon's user cannot enter. */
	if (errno == EACCES)
		execveat(program, "", argv, environ, AT_EMPTY_PATH);
	return err_sys(err, "%s", start->program);
}

/* In the child.  Returns only if a step failed. */
static int enter(const struct daemon_start *start, pid_t spawner, struct err *err)
{
	auto_fd int program = -1;

	if (setsid() < 0)
		return err_sys(err, "setsid");
	if (place_fds(start, err) < 0 || hand_on_words(start, err) < 0)
		return -1;
	program = open(start->program, O_PATH | O_CLOEXEC);
	if (program < 0)
		return err_sys(err, "%s", start->program);
	/* Becoming another user clears the parent death signal, so it comes first. */
	if (jail_plain_signals(err) < 0 || become_user(start, err) < 0 ||
		tie_to_parent(spawner, err) < 0 || filter_load(start->filter, err) < 0)
		return -1;
	return run_program(start, program, err);
}

int daemon_start(struct child *child, const struct daemon_start *start, struct err *err)
{
	pid_t spawner = getpid();

	child->pid = ns_clone(NS_NONE, &child->pidfd, err);
	if (child->pid < 0) {
		*child = (struct child)CHILD_INIT;
		return -1;
	}
	if (child->pid > 0)
		return 0;

	(void)enter(start, spawner, err);
	say(SAY_ERROR, "daemon.start", err->text);
	child_exit(127);
}
