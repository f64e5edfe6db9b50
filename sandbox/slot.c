#include "sandbox/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "sandbox/child_exit.h"
#include "sandbox/collect.h"
#include "sandbox/init.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker.h"
#include "sandbox/worker_limits.h"

#define SLOT_SOCK_FD 3 /* then the joins */

/* ---- becoming a slot ---------------------------------------------------------------------- */

/* First up, out of the way, then down to consecutive numbers; everything else is closed. */
static int settle_descriptors(int *fds, unsigned fd_count, struct err *err)
{
	for (unsigned i = 0; i < fd_count; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, SLOT_SOCK_FD + (int)fd_count);
		if (fds[i] < 0)
			return err_sys(err, "dup");
	}
	for (unsigned i = 0; i < fd_count; i++) {
		fds[i] = dup3(fds[i], SLOT_SOCK_FD + (int)i, O_CLOEXEC);
		if (fds[i] < 0)
			return err_sys(err, "dup3");
	}
	if (close_range(SLOT_SOCK_FD + fd_count, ~0U, 0) < 0)
		return err_sys(err, "close_range");
	return 0;
}

/*
 * The rights over its own user namespace stay with the slot, since making a worker takes them;
 * what an exec could regain goes for good.  Locked here once, inherited by every worker.
 */
static int shed_rights(struct err *err)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return err_sys(err, "drop capability %lu", cap);
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_sys(err, "securebits");
	if (setresgid(JAIL_USER_ID, JAIL_USER_ID, JAIL_USER_ID) < 0)
		return err_sys(err, "setresgid");
	if (setresuid(JAIL_USER_ID, JAIL_USER_ID, JAIL_USER_ID) < 0)
		return err_sys(err, "setresuid");
	return 0;
}

static int shed_the_rest(struct slot *slot, struct err *err)
{
	const struct rlimit no_core = { 0, 0 };
	sigset_t all;

	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return err_sys(err, "no core files");
	/* setresuid() has cleared it, so not before */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(err, "parent death signal");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "not dumpable");
	(void)umask(022);
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
		return err_sys(err, "block signals");

	slot->own_ns = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (slot->own_ns < 0)
		return err_sys(err, "pidfd of the slot");
	slot->note = mmap(NULL, sizeof(*slot->note), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slot->note == MAP_FAILED)
		return err_sys(err, "memory for notes");
	return 0;
}

static int become_slot(struct slot *slot, struct err *err)
{
	if (fd_set_nonblocking(slot->sock, false, err) < 0)
		return -1;
	if (shed_rights(err) < 0)
		return -1;
	return shed_the_rest(slot, err);
}

/* A NUL for "yes", which no text begins with. */
static int answer_ready(int ready, int result, const struct err *err)
{
	size_t len = result < 0 ? strlen(err->text) : 1;

	(void)write_all(ready, result < 0 ? err->text : "", len, NULL);
	close(ready);
	return result;
}

int slot_init(struct slot *slot, unsigned index, const int *fds, unsigned fd_count, int ready,
	const struct slot_house *house, struct err *err)
{
	int kept[1 + LEASE_JOIN_FDS_MAX + 1];

	*slot = (struct slot){
		.index = index,
		.join_count = fd_count - 1,
		.own_bytes = house->own_bytes,
		.footprint = house->footprint,
		.init_fd = -1,
		.worker_fd = -1,
		.collector_fd = -1,
		.collect_fds = { -1, -1 },
		.files = FILES_INIT,
	};
	memcpy(kept, fds, fd_count * sizeof(*fds));
	kept[fd_count] = ready;
	if (settle_descriptors(kept, fd_count + 1, err) < 0)
		return -1;

	slot->sock = kept[0];
	memcpy(slot->joins, kept + 1, slot->join_count * sizeof(*kept));
	return answer_ready(kept[fd_count], become_slot(slot, err), err);
}

/* ---- telling ------------------------------------------------------------------------------ */

static struct lease_msg answer_of(const struct slot *slot, enum lease_kind kind)
{
	struct lease_msg msg = lease_msg_of(kind);

	msg.slot = slot->index;
	msg.sequence = slot->sequence;
	return msg;
}

static int tell(const struct slot *slot, const struct lease_msg *msg, struct err *err)
{
	return lease_send(slot->sock, msg, NULL, 0, err);
}

static int tell_failure(
	const struct slot *slot, enum lease_kind kind, const char *why, struct err *err)
{
	struct lease_msg msg = answer_of(slot, kind);

	msg.status = -1;
	cut_printf(msg.text, sizeof(msg.text), "%s", why);
	return tell(slot, &msg, err);
}

/* ---- making a worker ---------------------------------------------------------------------- */

static void close_kept(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Waits for a child that has ended or is about to. */
static void reap(pid_t *pid, int *pidfd, int *ret_status, struct rusage *ret_usage)
{
	while (wait4(*pid, ret_status, __WALL, ret_usage) < 0 && errno == EINTR)
		;
	*pid = 0;
	close_kept(pidfd);
}

static void forget_worker(struct slot *slot)
{
	files_done(&slot->files);
	slot->occupied = false;
	slot->drop_wanted = false;
	slot->collect_wanted = false;
	close_kept(&slot->collect_fds[0]);
	close_kept(&slot->collect_fds[1]);
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

enum {
	MAKE_JOB,
	MAKE_OUT,
	MAKE_ERROR,
	MAKE_LIFELINE
};

/* 1 in the worker. */
static int start_worker(
	struct slot *slot, const struct lease_msg *msg, const int *fds, struct err *err)
{
	const struct worker_plan plan = {
		.job = fds[MAKE_JOB],
		.out = fds[MAKE_OUT],
		.error = fds[MAKE_ERROR],
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
	return 0;
}

static int make_all(struct slot *slot, const struct lease_msg *msg, const int *fds, struct err *err)
{
	const struct lease_limits *limits = &msg->limits;

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
static void undo_making(struct slot *slot)
{
	int status;
	struct rusage usage;

	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
	if (slot->worker > 0)
		reap(&slot->worker, &slot->worker_fd, &status, &usage);
	if (slot->init > 0)
		reap(&slot->init, &slot->init_fd, &status, &usage);
	forget_worker(slot);
}

static int on_make(struct slot *slot, const struct lease_msg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	struct lease_msg made;
	int result;

	if (slot->occupied)
		return err_set(err, ERR_PROTOCOL, "worker_make while there is a worker");
	slot->sequence = msg->sequence;
	slot->occupied = true;

	result = make_all(slot, msg, fds, &why);
	if (result > 0)
		return 1;
	if (result < 0) {
		undo_making(slot);
		return tell_failure(slot, LEASE_WORKER_FAILED, why.text, err);
	}
	made = answer_of(slot, LEASE_WORKER_MADE);
	made.pid = slot->worker;
	return tell(slot, &made, err);
}

/* ---- the end of a worker ------------------------------------------------------------------ */

static uint64_t us_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static struct lease_usage usage_of(const struct rusage *usage)
{
	return (struct lease_usage){
		.cpu_user_us = us_of(&usage->ru_utime),
		.cpu_sys_us = us_of(&usage->ru_stime),
		.max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024,
		.ctx_voluntary = (uint64_t)usage->ru_nvcsw,
		.ctx_forced = (uint64_t)usage->ru_nivcsw,
	};
}

static int add_disk_usage(const struct slot *slot, struct lease_msg *msg, struct err *err)
{
	struct files_usage usage;

	if (files_measure(&slot->files, &usage, err) < 0)
		return -1;
	msg->disk_bytes = usage.bytes;
	msg->inodes = usage.inodes;
	msg->flags |= usage.bytes_full ? LEASE_FLAG_DISK_FULL : 0;
	msg->flags |= usage.inodes_full ? LEASE_FLAG_INODES_FULL : 0;
	return 0;
}

/* A worker that died before it was in its jail has failed to be made. */
static int worker_never_was(struct slot *slot, int status, struct err *err)
{
	char why[LEASE_TEXT_MAX];

	if (slot->note->text[0])
		cut_printf(why, sizeof(why), "worker: %s", slot->note->text);
	else
		cut_printf(why, sizeof(why), "worker: died on the way in, wait status %#x", status);
	undo_making(slot);
	return tell_failure(slot, LEASE_WORKER_FAILED, why, err);
}

/* Whatever the program left running goes with it. */
static int worker_ended(struct slot *slot, struct err *err)
{
	struct lease_msg msg = answer_of(slot, LEASE_WORKER_ENDED);
	struct rusage usage;

	reap(&slot->worker, &slot->worker_fd, &msg.status, &usage);
	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
	if (!slot->note->entered)
		return worker_never_was(slot, msg.status, err);
	msg.usage = usage_of(&usage);
	if (add_disk_usage(slot, &msg, err) < 0)
		return -1;
	return tell(slot, &msg, err);
}

static int init_ended(struct slot *slot, struct err *err)
{
	int status;
	struct rusage usage;

	(void)err;
	reap(&slot->init, &slot->init_fd, &status, &usage);
	return 0;
}

static int collector_ended(struct slot *slot, struct err *err)
{
	struct lease_msg msg = answer_of(slot, LEASE_COLLECTED);
	struct rusage usage;

	reap(&slot->collector, &slot->collector_fd, &msg.status, &usage);
	return tell(slot, &msg, err);
}

/* ---- collecting and dropping -------------------------------------------------------------- */

enum {
	COLLECT_PIPE,
	COLLECT_GLOBS
};

/* What a collector keeps: reading files whatever their mode says, which the program chose. */
static int keep_reading_only(struct err *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	memset(data, 0, sizeof(data));
	data[0].effective = data[0].permitted = 1U << CAP_DAC_READ_SEARCH;
	if (syscall(SYS_capset, &head, data) < 0)
		return err_sys(err, "capset");
	return 0;
}

__attribute__((noreturn)) static void be_collector(struct slot *slot)
{
	const struct collect_job job = {
		.files = slot->files.mount,
		.globs = slot->collect_fds[COLLECT_GLOBS],
		.pipe = slot->collect_fds[COLLECT_PIPE],
		.count_most = slot->collect_count,
		.bytes_most = slot->collect_bytes,
	};
	struct err err = ERR_INIT;

	close(slot->sock);
	if (keep_reading_only(&err) < 0 || collect_run(&job, &err) < 0)
		child_exit(1);
	child_exit(0);
}

static int start_collector(struct slot *slot, struct err *err)
{
	pid_t pid = fork();

	if (pid == 0)
		be_collector(slot);
	slot->collect_wanted = false;
	close_kept(&slot->collect_fds[COLLECT_PIPE]);
	close_kept(&slot->collect_fds[COLLECT_GLOBS]);
	if (pid < 0)
		return tell_failure(slot, LEASE_COLLECTED, "fork of the collector", err);

	slot->collector = pid;
	slot->collector_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (slot->collector_fd < 0)
		return err_sys(err, "pidfd of the collector");
	return 0;
}

static int dropped(struct slot *slot, struct err *err)
{
	struct lease_msg msg = answer_of(slot, LEASE_DROPPED);

	if (slot->occupied && add_disk_usage(slot, &msg, err) < 0)
		return -1;
	forget_worker(slot);
	return tell(slot, &msg, err);
}

/* Does what was asked for and had to wait until nobody was alive. */
static int settle(struct slot *slot, struct err *err)
{
	if (slot->worker > 0 || slot->init > 0 || slot->collector > 0)
		return 0;
	if (slot->drop_wanted)
		return dropped(slot, err);
	if (slot->collect_wanted)
		return start_collector(slot, err);
	return 0;
}

static void kill_run(struct slot *slot)
{
	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
}

static int on_collect(struct slot *slot, const struct lease_msg *msg, int *fds, struct err *err)
{
	if (!slot->occupied || slot->collect_wanted || slot->collector > 0)
		return err_set(err, ERR_PROTOCOL, "collect is out of turn");
	slot->collect_wanted = true;
	slot->collect_count = msg->artifact_count;
	slot->collect_bytes = msg->artifact_bytes;
	slot->collect_fds[COLLECT_PIPE] = take_fd(&fds[0]);
	slot->collect_fds[COLLECT_GLOBS] = take_fd(&fds[1]);
	kill_run(slot);
	return 0;
}

static int on_drop(struct slot *slot, const struct lease_msg *msg, int *fds, struct err *err)
{
	(void)msg;
	(void)fds;
	if (slot->drop_wanted)
		return err_set(err, ERR_PROTOCOL, "worker_drop twice");
	slot->drop_wanted = true;
	if (slot->collector > 0)
		(void)kill(slot->collector, SIGKILL);
	kill_run(slot);
	return 0;
}

/* ---- adjusting ---------------------------------------------------------------------------- */

static int adjust(struct slot *slot, const struct lease_msg *msg, struct err *err)
{
	const struct lease_limits *limits = &msg->limits;

	if (slot->worker <= 0)
		return err_set(err, ERR_MISSING, "there is no worker");
	if (files_resize(&slot->files, worker_disk_bytes(limits), worker_disk_inodes(limits), err) <
		0)
		return -1;
	return worker_limits_set(slot->worker, limits, msg->flags, slot->own_bytes, err);
}

static int on_adjust(struct slot *slot, const struct lease_msg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	struct lease_msg adjusted = answer_of(slot, LEASE_ADJUSTED);

	(void)fds;
	if (adjust(slot, msg, &why) < 0)
		return tell_failure(slot, LEASE_ADJUSTED, why.text, err);
	return tell(slot, &adjusted, err);
}

/* ---- serving ------------------------------------------------------------------------------ */

static int (*const answers[LEASE_KIND_COUNT])(
	struct slot *slot, const struct lease_msg *msg, int *fds, struct err *err) = {
	[LEASE_WORKER_MAKE] = on_make,
	[LEASE_ADJUST] = on_adjust,
	[LEASE_COLLECT] = on_collect,
	[LEASE_WORKER_DROP] = on_drop,
};

/* As slot_serve(), for one message; 2: there may be more to come. */
enum {
	SERVED_GONE = 0,
	SERVED_WORKER = 1,
	SERVED_ON = 2
};

static int on_message(struct slot *slot, struct err *err)
{
	struct lease_msg msg;
	int fds[1 + LEASE_JOIN_FDS_MAX];
	unsigned fd_count = 0;
	int result = lease_recv(slot->sock, &msg, fds, &fd_count, err);

	if (result <= 0)
		return result;
	if (!answers[msg.kind]) {
		close_fds(fds, fd_count);
		return err_set(
			err, ERR_PROTOCOL, "%s is not for a slot", lease_kind_word(msg.kind));
	}
	result = answers[msg.kind](slot, &msg, fds, err);
	if (result > 0)
		return SERVED_WORKER; /* the descriptors lie where the worker wants them */
	close_fds(fds, fd_count);
	return result < 0 ? -1 : SERVED_ON;
}

enum {
	POLL_SOCK,
	POLL_WORKER,
	POLL_INIT,
	POLL_COLLECTOR,
	POLL_COUNT
};

static int on_ends(struct slot *slot, const struct pollfd *polls, struct err *err)
{
	if (polls[POLL_WORKER].revents && worker_ended(slot, err) < 0)
		return -1;
	if (polls[POLL_INIT].revents && slot->init > 0 && init_ended(slot, err) < 0)
		return -1;
	if (polls[POLL_COLLECTOR].revents && collector_ended(slot, err) < 0)
		return -1;
	return 0;
}

static int serve_once(struct slot *slot, struct err *err)
{
	struct pollfd polls[POLL_COUNT] = {
		[POLL_SOCK] = { .fd = slot->sock, .events = POLLIN },
		[POLL_WORKER] = { .fd = slot->worker_fd, .events = POLLIN },
		[POLL_INIT] = { .fd = slot->init_fd, .events = POLLIN },
		[POLL_COLLECTOR] = { .fd = slot->collector_fd, .events = POLLIN },
	};
	int result = SERVED_ON;

	if (poll(polls, POLL_COUNT, -1) < 0)
		return errno == EINTR ? SERVED_ON : err_sys(err, "poll");
	if (on_ends(slot, polls, err) < 0)
		return -1;
	if (polls[POLL_SOCK].revents)
		result = on_message(slot, err);
	if (result == SERVED_ON && settle(slot, err) < 0)
		return -1;
	return result;
}

int slot_serve(struct slot *slot, struct err *err)
{
	int result = SERVED_ON;

	while (result == SERVED_ON)
		result = serve_once(slot, err);
	/* a word to a daemon that left while we spoke is no failure of ours */
	return result < 0 && err->code == ERR_CLOSED ? 0 : result;
}
