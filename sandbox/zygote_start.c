#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker.h"
#include "sandbox/zygote.h"

#define THREAD_STACK_BYTES ((size_t)2 << 20)

/* ---- what the spawner left --------------------------------------------------------------- */

static int number_of(const char *name, long lowest, long highest, int *ret_number, struct err *err)
{
	const char *text = getenv(name);
	char *end = NULL;
	long number;

	if (!text || !*text)
		return err_set(err, ERR_MISSING, "%s is not set", name);
	number = strtol(text, &end, 10);
	if (*end || number < lowest || number > highest)
		return err_set(err, ERR_INVALID, "%s is not a number in its range", name);
	*ret_number = (int)number;
	return 0;
}

/*
 * Where only RLIMIT_AS holds memory, what is reserved counts as used: a thread's own arena would
 * take 64 MiB of it and its stack 8.
 */
static void reserve_little(void)
{
	pthread_attr_t attr;

	(void)mallopt(M_ARENA_MAX, 1);
	if (pthread_attr_init(&attr) != 0)
		return;
	if (pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES) == 0)
		(void)pthread_setattr_default_np(&attr);
	(void)pthread_attr_destroy(&attr);
}

int zygote_init(struct zygote *zygote, struct err *err)
{
	static const char *const names[] = { JAIL_ENV_SOCKET, JAIL_ENV_PROC, JAIL_ENV_SLOTS,
		JAIL_ENV_UIDS, JAIL_ENV_PRELOAD };
	const char *uids = getenv(JAIL_ENV_UIDS);
	int slots_max = 0;

	memset(zygote, 0, sizeof(*zygote));
	if (number_of(JAIL_ENV_SOCKET, 3, 1024, &zygote->sock, err) < 0 ||
		number_of(JAIL_ENV_PROC, 3, 1024, &zygote->proc, err) < 0 ||
		number_of(JAIL_ENV_SLOTS, 1, PRIV_SLOTS_MAX, &slots_max, err) < 0)
		return -1;
	if (!uids || (strcmp(uids, "one") != 0 && strcmp(uids, "block") != 0))
		return err_set(err, ERR_INVALID, "%s is neither one nor block", JAIL_ENV_UIDS);

	zygote->slots_max = (unsigned)slots_max;
	zygote->one_uid = strcmp(uids, "one") == 0;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)unsetenv(names[i]);
	if (zygote->one_uid)
		reserve_little();
	/* A core file that goes to a program of the host's (core_pattern) asks no RLIMIT_CORE. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "not dumpable");
	return fd_set_nonblocking(zygote->sock, false, err);
}

/* ---- the learner -------------------------------------------------------------------------- */

/* It speaks to itself where a worker speaks to the daemon, and prints for nobody. */
static int be_learner(struct zygote *zygote, int done)
{
	int pair[2];

	zygote->learned = done;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
		dup2(pair[0], WORKER_JOB_FD) < 0 || dup2(STDIN_FILENO, STDOUT_FILENO) < 0 ||
		dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		child_exit(1);
	return 1;
}

int zygote_learn(struct zygote *zygote, struct err *err)
{
	auto_fd int hear = -1;
	int ends[2];
	char byte;
	pid_t pid;
	int result;

	footprint_collapse(zygote->proc);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	hear = ends[0];
	pid = fork();
	if (pid == 0)
		return be_learner(zygote, ends[1]);
	close(ends[1]);
	if (pid < 0)
		return err_sys(err, "fork of the learner");

	result = read_all(hear, &byte, 1, err);
	if (result == 0)
		result = footprint_read(&zygote->footprint, zygote->proc, pid, err);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, __WALL);
	return result;
}

void zygote_learned(struct zygote *zygote)
{
	(void)write_all(zygote->learned, "l", 1, NULL);
	for (;;)
		(void)pause();
}
