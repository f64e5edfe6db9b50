#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/child_exit.h"
#include "sandbox/init.h"
#include "sandbox/slot_parts.h"
#include "sandbox/worker.h"
#include "sandbox/worker_limits.h"

void slot_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Waits for a child that has ended or is about to. */
void slot_reap(pid_t *pid, int *pidfd, int *ret_status, struct rusage *ret_usage)
{
	while (wait4(*pid, ret_status, __WALL, ret_usage) < 0 && errno == EINTR)
		;
	*pid = 0;
	slot_close(pidfd);
}

void slot_forget(struct slot *slot)
{
	files_done(&slot->files);
	hearing_forget(&slot->hearing);
	opened_forget(&slot->opened);
	slot->occupied = false;
	slot->drop_wanted = false;
	slot->collect_wanted = false;
	slot_close(&slot->collect_fds[0]);
	slot_close(&slot->collect_fds[1]);
}

/* In the worker.  Leaves a note for the slot when a step fails. */
static int enter_or_leave(struct slot *slot, const struct worker_plan *plan)
{
	struct err err = ERR_INIT;

	if (worker_enter(plan, &err) < 0) {
		cut_printf(slot->note->text, sizeof(slot->note->text), "%s", err.text);
		child_exit(1);
	}
	slot->note->entered = 1;
	(void)munmap(slot->note, sizeof(*slot->note));
	slot->note = NULL;
	return 1;
}

/*
 * Forks into init's pid namespace.  Entering it by pidfd asks whether we might trace init, which
 * shares our memory: so we are dumpable for that one call.  No other process of ours is alive then.
 */
static pid_t fork_below_init(struct slot *slot, struct err *err)
{
	pid_t pid;
	int entered;

	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	entered = setns(slot->init_fd, CLONE_NEWPID);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (entered < 0)
		return err_sys(err, "enter the pid namespace");

	pid = fork();
	if (pid == 0)
		return 0;
	if (pid < 0)
		(void)err_sys(err, "fork");
	if (setns(slot->own_ns, CLONE_NEWPID) < 0) {
		/* Every later fork would go wrong; without a slot the kernel cleans up. */
		child_exit(1);
	}
	return pid;
}

/* The descriptors of WORKER_MAKE, in their order. */
enum {
	MAKE_JOB,
	MAKE_OUT,
	MAKE_ERROR,
	MAKE_LIFELINE
};

/* 1 in the worker. */
static int start_worker(
	struct slot *slot, const struct slotmsg *msg, const int *fds, struct err *err)
{
	const struct worker_plan plan = {
		.job = fds[MAKE_JOB],
		.out = fds[MAKE_OUT],
		.error = fds[MAKE_ERROR],
		.tell = slot->hearing.tell,
		.joins = slot->joins,
		.join_count = slot->join_count,
		.files = &slot->files,
		.limits = msg->limits,
		.flags = msg->flags,
		.own_bytes = slot->own_bytes,
		.footprint = slot->footprint,
	};
	pid_t pid;

	memset(slot->note, 0, sizeof(*slot->note));
	pid = fork_below_init(slot, err);
	if (pid < 0)
		return -1;
	if (pid == 0)
		return enter_or_leave(slot, &plan);

	slot->worker = pid;
	slot->worker_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (slot->worker_fd < 0)
		return err_sys(err, "pidfd of the worker");
	if (clock_getcpuclockid(pid, &slot->worker_clock) != 0)
		return err_sys(err, "cpu clock of the worker");
	slot->cpu_limit_us = msg->limits.cpu_ms * 1000;
	slot->cpu_spent = false;
	return 0;
}

int slot_make(struct slot *slot, const struct slotmsg *msg, const int *fds, struct err *err)
{
	const struct slotmsg_limits *limits = &msg->limits;

	if (files_make(&slot->files, worker_disk_bytes(limits), worker_disk_inodes(limits), err) <
		0)
		return err_wrap(err, "files");
	slot->init = init_start(fds[MAKE_LIFELINE], &slot->init_fd, err);
	if (slot->init < 0) {
		slot->init = 0;
		return err_wrap(err, "init");
	}
	if (start_worker(slot, msg, fds, err) < 0)
		return err_wrap(err, "worker");
	return slot->note == NULL;
}

/* Init first: the namespace's end takes the worker with it, once the worker is reaped. */
void slot_undo(struct slot *slot)
{
	int status;
	struct rusage usage;

	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
	if (slot->worker > 0)
		slot_reap(&slot->worker, &slot->worker_fd, &status, &usage);
	if (slot->init > 0)
		slot_reap(&slot->init, &slot->init_fd, &status, &usage);
	slot_forget(slot);
}
