#include "sandbox/zygote/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "sandbox/child_exit.h"
#include "sandbox/filter/syscalls_runtime.h"
#include "sandbox/filter/tiny_filter.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker/files.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/procfs.h"
#include "sandbox/worker/worker.h"
#include "sandbox/zygote/slot.h"

#define THREAD_STACK_BYTES ((size_t)2 << 20)
#define LEARNER_SECONDS    30 /* for one that does not end */
#define SLOT_NAMESPACES                                                                            \
	(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | \
		CLONE_NEWCGROUP)

/* ---- settings from the spawner --------------------------------------------------------------- */

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
 * Where RLIMIT_AS is the only memory limit, reserved addresses count as used: a thread's own arena
 * would take 64 MiB and its stack 8 MiB.
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
	zygote->networked = access(FILES_HOSTS_PATH, F_OK) == 0; /* jail_env.h */
	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)unsetenv(names[i]);
	if (zygote->one_uid)
		reserve_little();
	/*
	 * RLIMIT_CORE does not stop a core file that goes to a program of the host (core_pattern).
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "not dumpable");
	return fd_set_nonblocking(zygote->sock, false, err);
}

/* ---- the learner -------------------------------------------------------------------------- */

/* Its job socket leads to itself, and its output to /dev/null. */
static int be_learner(struct zygote *zygote, int done)
{
	int pair[2];

	zygote->learned = done;
	(void)alarm(LEARNER_SECONDS);
	joblink_touch();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
		dup2(pair[0], WORKER_JOB_FD) < 0 || dup2(STDIN_FILENO, STDOUT_FILENO) < 0 ||
		dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		child_exit(1);
	return 1;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

int zygote_learn(struct zygote *zygote, struct err *err)
{
	auto_fd int hear = -1;
	int ends[2];
	pid_t other = 0;
	pid_t pid;
	int result;

	if (zygote->survey.learners == 0 && !zygote->has_learned && !zygote->small_pages)
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

	result = read_all(hear, &other, sizeof(other), err);
	if (result == 0)
		result = footprint_survey_add(&zygote->survey, zygote->proc, pid, err);
	(void)kill(pid, SIGKILL);
	reap(pid);
	if (other > 0)
		reap(other); /* became a child of ours */
	return result;
}

void zygote_learned(struct zygote *zygote)
{
	footprint_choose(&zygote->footprint, &zygote->survey);
	zygote->has_learned = true;
}

void zygote_learned_cells(struct zygote *zygote)
{
	footprint_choose_cells(&zygote->footprint, &zygote->survey);
}

/* Shared with a child, which ends when this process has ended. */
void zygote_learner_shares(struct zygote *zygote)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	zygote->sharer = fork();
	if (zygote->sharer == 0) {
		close(ends[1]);
		(void)read_all(ends[0], &byte, 1, NULL);
		child_exit(0);
	}
	close(ends[0]);
}

void zygote_learner_ends(struct zygote *zygote)
{
	(void)write_all(zygote->learned, &zygote->sharer, sizeof(zygote->sharer), NULL);
	for (;;)
		(void)pause();
}

/* ---- opening a slot ----------------------------------------------------------------------- */

/* Zygote and slot wait for each other by these pipes while the slot is made. */
struct gate {
	int maps[2];  /* gets a byte when the id maps are written */
	int ready[2]; /* gets a NUL when the slot is ready, or the text of an error */
};

#define GATE_INIT              \
	{                      \
		{ -1, -1 },    \
		{              \
			-1, -1 \
		}              \
	}

static void gate_done(struct gate *gate)
{
	close_fds(gate->maps, 2);
	close_fds(gate->ready, 2);
}

#define auto_gate __attribute__((cleanup(gate_done)))

static int gate_init(struct gate *gate, struct err *err)
{
	if (pipe2(gate->maps, O_CLOEXEC) < 0 || pipe2(gate->ready, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	return 0;
}

/*
 * The slot's pid in the procfs's pid namespace, which may differ from the one that we know.  The
 * fdinfo of a pidfd has the former.
 */
static int pid_in_proc(int proc, int pidfd, long *ret_pid, struct err *err)
{
	char path[64];
	char text[512];
	const char *line;

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	if (procfs_read(proc, path, text, sizeof(text), err) < 0)
		return -1;
	line = strstr(text, "\nPid:");
	*ret_pid = line ? strtol(line + strlen("\nPid:"), NULL, 10) : 0;
	if (*ret_pid <= 0)
		return err_set(err, ERR_MISSING, "%s knows no pid", path);
	return 0;
}

static int write_proc(int proc, long pid, const char *name, const char *text, struct err *err)
{
	char path[64];
	auto_fd int fd = -1;

	(void)snprintf(path, sizeof(path), "%ld/%s", pid, name);
	fd = openat(proc, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open %s", path);
	if (write(fd, text, strlen(text)) < 0)
		return err_sys(err, "write %s", path);
	return 0;
}

/* Uid 1000 in slot k is uid 1+k here, or uid 0 if no other is mapped. */
static int write_maps(const struct zygote *zygote, unsigned index, int pidfd, struct err *err)
{
	unsigned outside = zygote->one_uid ? 0 : 1 + index;
	long pid = 0;
	char map[64];

	(void)snprintf(map, sizeof(map), "%d %u 1\n", JAIL_USER_ID, outside);
	if (pid_in_proc(zygote->proc, pidfd, &pid, err) < 0)
		return -1;
	if (write_proc(zygote->proc, pid, "setgroups", "deny", err) < 0)
		return -1;
	if (write_proc(zygote->proc, pid, "uid_map", map, err) < 0)
		return -1;
	return write_proc(zygote->proc, pid, "gid_map", map, err);
}

static int wait_until_ready(int ready, struct err *err)
{
	char text[SLOTMSG_TEXT_MAX] = "";
	ssize_t got = read(ready, text, sizeof(text) - 1);

	if (got == 1 && text[0] == '\0')
		return 0;
	if (got <= 0)
		return err_set(err, ERR_CLOSED, "the slot died before it was ready");
	return err_set(err, ERR_SYSTEM, "%s", text);
}

/* The parent's half. */
static int admit_slot(
	const struct zygote *zygote, unsigned index, int pidfd, struct gate *gate, struct err *err)
{
	close_fds(&gate->ready[1], 1);
	if (write_maps(zygote, index, pidfd, err) < 0)
		return -1;
	if (write_all(gate->maps[1], "m", 1, err) < 0)
		return -1;
	return wait_until_ready(gate->ready[0], err);
}

/*
 * The child's half, which ends in slot_serve().  The interpreter does not learn of this fork: a
 * slot runs no Python, and a worker tells it (see runtimes/python/_ced.c).
 */
static int be_slot(const struct zygote *zygote, unsigned index, struct gate *gate, const int *fds,
	unsigned fd_count)
{
	struct err err = ERR_INIT;
	static struct slot slot;
	const struct slot_start start = { index, fds, fd_count, gate->ready[1], zygote->own_bytes,
		&zygote->footprint, zygote->networked };
	char byte;
	int result;

	close_fds(&gate->maps[1], 1);
	if (read_all(gate->maps[0], &byte, 1, &err) < 0)
		child_exit(1);
	if (slot_init(&slot, &start, &err) < 0)
		child_exit(1);
	result = slot_serve(&slot, &err);
	if (result > 0)
		return 1;
	if (result < 0)
		(void)dprintf(STDERR_FILENO, "<3>ced-zygote slot.failed slot=%u error=\"%s\"\n",
			index, err.text);
	child_exit(result < 0);
}

/* fork(2) with namespaces.  The caller has one thread and holds no lock of the C library. */
static pid_t fork_into_namespaces(int *ret_pidfd)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = SLOT_NAMESPACES | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid > 0)
		*ret_pidfd = pidfd;
	return pid;
}

/* Returns 1 in a worker of the slot. */
static int open_slot(
	struct zygote *zygote, unsigned index, const int *fds, unsigned fd_count, struct err *err)
{
	auto_gate struct gate gate = GATE_INIT;
	auto_fd int pidfd = -1;
	pid_t pid;

	if (index >= zygote->slots_max || zygote->slots[index].pid > 0)
		return err_set(err, ERR_INVALID, "slot %u cannot be opened", index);
	if (gate_init(&gate, err) < 0)
		return -1;
	pid = fork_into_namespaces(&pidfd);
	if (pid < 0)
		return err_sys(err, "clone3");
	if (pid == 0) {
		int result = be_slot(zygote, index, &gate, fds, fd_count);

		gate = (struct gate)
			GATE_INIT; /* closed long ago, and the numbers are in use again */
		return result;
	}

	if (admit_slot(zygote, index, pidfd, &gate, err) < 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, __WALL);
		return -1;
	}
	zygote->slots[index].pid = pid;
	zygote->slots[index].pidfd = take_fd(&pidfd);
	return 0;
}

static int on_slot_open(struct zygote *zygote, const struct slotmsg *msg, const int *fds,
	unsigned fd_count, struct err *err)
{
	struct err why = ERR_INIT;
	struct slotmsg answer = slotmsg_of(SLOTMSG_SLOT_OPENED);
	int result = open_slot(zygote, msg->slot, fds, fd_count, &why);

	if (result > 0)
		return 1;
	answer.slot = msg->slot;
	if (result < 0) {
		answer.kind = SLOTMSG_SLOT_FAILED;
		cut_printf(answer.text, sizeof(answer.text), "%s", why.text);
	} else {
		answer.pid = zygote->slots[msg->slot].pid;
	}
	return slotmsg_send(zygote->sock, &answer, NULL, 0, err);
}

/* ---- serving ------------------------------------------------------------------------------ */

static int on_slot_gone(struct zygote *zygote, unsigned index, struct err *err)
{
	struct slotmsg gone = slotmsg_of(SLOTMSG_SLOT_GONE);

	gone.slot = index;
	while (waitpid(zygote->slots[index].pid, &gone.status, __WALL) < 0 && errno == EINTR)
		;
	close(zygote->slots[index].pidfd);
	zygote->slots[index].pid = 0;
	return slotmsg_send(zygote->sock, &gone, NULL, 0, err);
}

enum {
	SERVED_GONE = 0,
	SERVED_WORKER = 1,
	SERVED_ON = 2
};

static int zygote_on_message(struct zygote *zygote, struct err *err)
{
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	unsigned fd_count = 0;
	int result = slotmsg_recv(zygote->sock, &msg, fds, &fd_count, err);

	if (result <= 0)
		return result;
	if (msg.kind != SLOTMSG_SLOT_OPEN) {
		close_fds(fds, fd_count);
		return err_set(
			err, ERR_PROTOCOL, "%s is not for a zygote", slotmsg_kind_word(msg.kind));
	}
	result = on_slot_open(zygote, &msg, fds, fd_count, err);
	if (result > 0)
		return SERVED_WORKER;
	close_fds(fds, fd_count);
	return result < 0 ? -1 : SERVED_ON;
}

static int zygote_serve_once(struct zygote *zygote, struct err *err)
{
	struct pollfd polls[1 + PRIV_SLOTS_MAX];

	polls[0] = (struct pollfd){ .fd = zygote->sock, .events = POLLIN };
	for (unsigned i = 0; i < zygote->slots_max; i++)
		polls[1 + i] = (struct pollfd){
			.fd = zygote->slots[i].pid > 0 ? zygote->slots[i].pidfd : -1,
			.events = POLLIN,
		};
	if (poll(polls, 1 + zygote->slots_max, -1) < 0)
		return errno == EINTR ? SERVED_ON : err_sys(err, "poll");
	for (unsigned i = 0; i < zygote->slots_max; i++)
		if (polls[1 + i].revents && on_slot_gone(zygote, i, err) < 0)
			return -1;
	return polls[0].revents ? zygote_on_message(zygote, err) : SERVED_ON;
}

static int measure_self(struct zygote *zygote, struct err *err)
{
	char text[128];

	if (procfs_read(zygote->proc, "self/statm", text, sizeof(text), err) < 0)
		return -1;
	zygote->own_bytes = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

/*
 * A fork copies one thread.  In the copy, a lock that another thread holds would never be
 * released.
 */
static int check_alone(const struct zygote *zygote, struct err *err)
{
	char text[4096];
	const char *line;

	if (procfs_read(zygote->proc, "self/status", text, sizeof(text), err) < 0)
		return -1;
	line = strstr(text, "\nThreads:");
	if (!line || strtol(line + strlen("\nThreads:"), NULL, 10) != 1)
		return err_set(err, ERR_INVALID, "a preloaded module has left a thread running");
	return 0;
}

/*
 * The line is "start-end perms ...".  Memory that is shared and writable would be shared by all
 * runs.
 */
static int check_mapping(void *context, const char *line, struct err *err)
{
	const char *perms = strchr(line, ' ');

	(void)context;
	if (perms && strlen(perms) > 4 && perms[2] == 'w' && perms[4] == 's')
		return err_set(err, ERR_INVALID,
			"a preloaded module has mapped memory that all runs would share");
	return 0;
}

int zygote_serve(struct zygote *zygote, const char *version, struct err *err)
{
	struct slotmsg ready = slotmsg_of(SLOTMSG_ZYGOTE_READY);
	int result = SERVED_ON;

	if (measure_self(zygote, err) < 0 || check_alone(zygote, err) < 0 ||
		procfs_each_mapping(zygote->proc, check_mapping, NULL, err) < 0)
		return err_wrap(err, "the interpreter");
	if (zygote->networked)
		zygote->calls = syscalls_networked(zygote->calls);
	tiny_filter_prepare(zygote->calls);
	cut_printf(ready.text, sizeof(ready.text), "%s", version);
	if (slotmsg_send(zygote->sock, &ready, NULL, 0, err) < 0)
		return -1;
	while (result == SERVED_ON)
		result = zygote_serve_once(zygote, err);
	/* a message to a daemon that has left is no failure of ours */
	return result < 0 && err->code == ERR_CLOSED ? 0 : result;
}
