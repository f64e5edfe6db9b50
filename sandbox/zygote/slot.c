#include "sandbox/zygote/slot.h"

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
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/jail_dirs.h"
#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker/worker.h"
#include "sandbox/worker/worker_limits.h"
#include "sandbox/zygote/collect.h"
#include "sandbox/zygote/init.h"
#include "sandbox/zygote/slot_network.h"

#define SLOT_SOCK_FD     3 /* the join descriptors follow */
#define CPU_LOOK_MS_MAX  60000
#define STRANGER_LOOK_MS 50    /* nothing tells of the death of a process that nobody knows */
#define CPU_MAKING_US    10000 /* the most that making the worker takes; no run pays for it */

/* The descriptors of WORKER_MAKE, in their order. */
enum {
	MAKE_JOB,
	MAKE_OUT,
	MAKE_ERROR,
	MAKE_LIFELINE
};

/* The descriptors of COLLECT, in their order. */
enum {
	COLLECT_PIPE,
	COLLECT_GLOBS
};

/* ---- becoming a slot ---------------------------------------------------------------------- */

/*
 * Moves the descriptors up, out of the way, then down to consecutive numbers.  Closes all others.
 */
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
 * The slot keeps its rights over its own user namespace, since making a worker needs them.  Rights
 * that an exec could regain are dropped and locked here, and every worker inherits that.
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
	const struct rlimit signals = { JAIL_SIGNALS_MAX, JAIL_SIGNALS_MAX };
	sigset_t all;

	if (setrlimit(RLIMIT_CORE, &no_core) < 0)
		return err_sys(err, "no core files");
	/* all slots of the zygote share the user's limit: this is our part */
	if (setrlimit(RLIMIT_SIGPENDING, &signals) < 0)
		return err_sys(err, "waiting signals");
	/* after setresuid(), which clears it */
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
	if (notify_open(&slot->notify, err) < 0)
		return -1;
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

/* A NUL means success, since no text begins with it. */
static int answer_ready(int ready, int result, const struct err *err)
{
	size_t len = result < 0 ? strlen(err->text) : 1;

	(void)write_all(ready, result < 0 ? err->text : "", len, NULL);
	close(ready);
	return result;
}

static unsigned count_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

int slot_init(struct slot *slot, const struct slot_start *start, struct err *err)
{
	int kept[1 + SLOTMSG_JOIN_FDS_MAX + 1];
	const unsigned count = start->fd_count;

	*slot = (struct slot){
		.index = start->index,
		.join_count = count - 1,
		.own_bytes = start->own_bytes,
		.footprint = start->footprint,
		.processors = count_processors(),
		.networked = start->networked,
		.init_fd = -1,
		.worker_fd = -1,
		.collector_fd = -1,
		.collect_fds = { -1, -1 },
		.files = FILES_INIT,
		.notify = NOTIFY_INIT,
		.opened = OPENED_INIT,
		.states = STATES_INIT,
	};
	memcpy(kept, start->fds, count * sizeof(*kept));
	kept[count] = start->ready;
	if (settle_descriptors(kept, count + 1, err) < 0)
		return -1;

	slot->sock = kept[0];
	memcpy(slot->joins, kept + 1, slot->join_count * sizeof(*kept));
	return answer_ready(kept[count], become_slot(slot, err), err);
}

/* ---- messages to the daemon ---------------------------------------------------------------- */

/* A message of this kind about the current worker. */
static struct slotmsg slot_answer(const struct slot *slot, enum slotmsg_kind kind)
{
	struct slotmsg msg = slotmsg_of(kind);

	msg.slot = slot->index;
	msg.sequence = slot->sequence;
	return msg;
}

static int slot_tell(const struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	return slotmsg_send(slot->sock, msg, NULL, 0, err);
}

static int slot_tell_failure(
	const struct slot *slot, enum slotmsg_kind kind, const char *why, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, kind);

	msg.status = -1;
	cut_printf(msg.text, sizeof(msg.text), "%s", why);
	return slot_tell(slot, &msg, err);
}

/* ---- making a worker ---------------------------------------------------------------------- */

/* Waits for a child that has ended or is about to. */
static void slot_reap(pid_t *pid, int *pidfd, int *ret_status, struct rusage *ret_usage)
{
	while (wait4(*pid, ret_status, __WALL, ret_usage) < 0 && errno == EINTR)
		;
	*pid = 0;
	close_fds(pidfd, 1);
}

/* Releases what belonged to a dead worker. */
static void slot_forget(struct slot *slot)
{
	files_done(&slot->files);
	notify_forget(&slot->notify);
	opened_forget(&slot->opened);
	states_forget(&slot->states);
	slot->occupied = false;
	slot->drop_wanted = false;
	slot->collect_wanted = false;
	slot->collect_standing = false;
	close_fds(slot->collect_fds, 2);
}

/* In the worker.  If a step fails, it leaves a note for the slot and exits. */
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
 * Forks into init's pid namespace.  To enter it by pidfd we must be allowed to trace init, which
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
		/* Every later fork would go wrong.  When the slot exits, the kernel cleans up. */
		child_exit(1);
	}
	return pid;
}

/* Returns 1 in the worker. */
static int start_worker(
	struct slot *slot, const struct slotmsg *msg, const int *fds, struct err *err)
{
	const struct worker_plan plan = {
		.job = fds[MAKE_JOB],
		.out = fds[MAKE_OUT],
		.error = fds[MAKE_ERROR],
		.tell = slot->notify.tell,
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
	slot->cpu_base_us = 0;
	slot->cpu_limit_us = msg->limits.cpu_ms * 1000;
	slot->cpu_spent = false;
	return 0;
}

/* 0, or 1 in the worker, or -1: then the caller undoes it. */
static int slot_make(struct slot *slot, const struct slotmsg *msg, const int *fds, struct err *err)
{
	const struct slotmsg_limits *limits = &msg->limits;

	if (files_make(&slot->files, worker_disk_bytes(limits), worker_disk_inodes(limits), err) <
		0)
		return err_wrap(err, "files");
	if (slot->networked &&
		(slot_network_make(err) < 0 || files_add_hosts(&slot->files, err) < 0))
		return err_wrap(err, "network");
	slot->init = init_start(fds[MAKE_LIFELINE], &slot->init_fd, err);
	if (slot->init < 0) {
		slot->init = 0;
		return err_wrap(err, "init");
	}
	if (start_worker(slot, msg, fds, err) < 0)
		return err_wrap(err, "worker");
	return slot->note == NULL;
}

/*
 * Kills what there is of a worker and forgets it.  Init goes first: the worker dies with the
 * namespace.
 */
static void slot_undo(struct slot *slot)
{
	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
	if (slot->worker > 0)
		slot_reap(&slot->worker, &slot->worker_fd, NULL, NULL);
	if (slot->init > 0)
		slot_reap(&slot->init, &slot->init_fd, NULL, NULL);
	slot_forget(slot);
}

/* ---- the end of a worker ------------------------------------------------------------------ */

static uint64_t us_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static struct slotmsg_usage usage_of(const struct rusage *usage)
{
	return (struct slotmsg_usage){
		.cpu_user_us = us_of(&usage->ru_utime),
		.cpu_sys_us = us_of(&usage->ru_stime),
		.max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024,
		.ctx_voluntary = (uint64_t)usage->ru_nvcsw,
		.ctx_forced = (uint64_t)usage->ru_nivcsw,
	};
}

static int add_disk_usage(const struct slot *slot, struct slotmsg *msg, struct err *err)
{
	struct files_usage usage;

	if (files_measure(&slot->files, &usage, err) < 0)
		return -1;
	msg->disk_bytes = usage.bytes;
	msg->inodes = usage.inodes;
	msg->flags |= usage.bytes_full ? SLOTMSG_FLAG_DISK_FULL : 0;
	msg->flags |= usage.inodes_full ? SLOTMSG_FLAG_INODES_FULL : 0;
	return 0;
}

/* The worker died before it was in its jail: making it has failed. */
static int worker_failed(struct slot *slot, int status, struct err *err)
{
	char why[SLOTMSG_TEXT_MAX];

	if (slot->note->text[0])
		cut_printf(why, sizeof(why), "worker: %s", slot->note->text);
	else
		cut_printf(why, sizeof(why), "worker: died before it was ready, wait status %#x",
			status);
	slot_undo(slot);
	return slot_tell_failure(slot, SLOTMSG_WORKER_FAILED, why, err);
}

/* Kills whatever the program left running, and reports the end. */
static int slot_worker_ended(struct slot *slot, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, SLOTMSG_WORKER_ENDED);
	struct rusage usage;

	slot_reap(&slot->worker, &slot->worker_fd, &msg.status, &usage);
	if (slot->init > 0 && !slot->states.count)
		(void)kill(slot->init, SIGKILL);
	if (!slot->note->entered)
		return worker_failed(slot, msg.status, err);
	msg.usage = usage_of(&usage);
	msg.flags |= slot->cpu_spent ? SLOTMSG_FLAG_CPU_LIMIT : 0;
	notify_report(&slot->notify, &msg);
	opened_tell(&slot->opened);
	if (add_disk_usage(slot, &msg, err) < 0)
		return -1;
	return slot_tell(slot, &msg, err);
}

static int slot_collector_ended(struct slot *slot, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, SLOTMSG_COLLECTED);

	slot_reap(&slot->collector, &slot->collector_fd, &msg.status, NULL);
	return slot_tell(slot, &msg, err);
}

/* ---- collecting and dropping -------------------------------------------------------------- */

/* A collector keeps one right: to read files whatever their mode, which the program chose. */
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
	slot->collect_standing = false;
	close_fds(slot->collect_fds, 2);
	if (pid < 0)
		return slot_tell_failure(slot, SLOTMSG_COLLECTED, "fork of the collector", err);

	slot->collector = pid;
	slot->collector_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (slot->collector_fd < 0)
		return err_sys(err, "pidfd of the collector");
	return 0;
}

static int dropped(struct slot *slot, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, SLOTMSG_DROPPED);

	if (slot->occupied && add_disk_usage(slot, &msg, err) < 0)
		return -1;
	slot_forget(slot);
	return slot_tell(slot, &msg, err);
}

/* Does what the daemon asked for and what had to wait until all processes were dead. */
static int slot_settle(struct slot *slot, struct err *err)
{
	if (slot->collect_wanted && slot->collect_standing && !slot->drop_wanted)
		return start_collector(slot, err);
	if (slot->worker > 0 || slot->init > 0 || slot->collector > 0 || slot->states.count)
		return 0;
	if (slot->drop_wanted)
		return dropped(slot, err);
	if (slot->collect_wanted)
		return start_collector(slot, err);
	return 0;
}

/* Kills the run.  The ends of its processes are handled when they come. */
static void slot_kill(struct slot *slot)
{
	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
}

/* Kills what the program runs in, but not the kept states of its session. */
static void slot_kill_run(struct slot *slot)
{
	if (slot->states.count && slot->worker > 0)
		(void)kill(slot->worker, SIGKILL);
	else
		slot_kill(slot);
}

/* ---- requests of the daemon ----------------------------------------------------------------- */

static int on_make(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	struct slotmsg made;
	int result;

	if (slot->occupied)
		return err_set(err, ERR_PROTOCOL, "worker_make while there is a worker");
	slot->sequence = msg->sequence;
	slot->occupied = true;

	result = slot_make(slot, msg, fds, &why);
	if (result > 0)
		return 1;
	if (result < 0) {
		slot_undo(slot);
		return slot_tell_failure(slot, SLOTMSG_WORKER_FAILED, why.text, err);
	}
	made = slot_answer(slot, SLOTMSG_WORKER_MADE);
	made.pid = slot->worker;
	return slot_tell(slot, &made, err);
}

static int on_collect(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	if (!slot->occupied || slot->collect_wanted || slot->collector > 0)
		return err_set(err, ERR_PROTOCOL, "collect is out of turn");
	slot->collect_wanted = true;
	slot->collect_count = msg->artifact_count;
	slot->collect_bytes = msg->artifact_bytes;
	slot->collect_fds[COLLECT_PIPE] = take_fd(&fds[0]);
	slot->collect_fds[COLLECT_GLOBS] = take_fd(&fds[1]);
	slot->collect_standing = msg->flags & SLOTMSG_FLAG_STANDS;
	if (!slot->collect_standing)
		slot_kill(slot);
	return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table wants this type */
static int on_drop(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	(void)msg;
	(void)fds;
	if (slot->drop_wanted)
		return err_set(err, ERR_PROTOCOL, "worker_drop twice");
	slot->drop_wanted = true;
	if (slot->collector > 0)
		(void)kill(slot->collector, SIGKILL);
	slot_kill(slot);
	return 0;
}

/* RLIMIT_CPU counts from the beginning of the process, not of the cell. */
static int set_limits(struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	struct slotmsg_limits limits = msg->limits;

	if (limits.cpu_ms)
		limits.cpu_ms += slot->cpu_base_us / 1000;
	slot->cpu_limit_us = msg->limits.cpu_ms * 1000;
	return worker_limits_set(slot->worker, &limits, msg->flags, slot->own_bytes, err);
}

static int slot_adjust(struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	const struct slotmsg_limits *limits = &msg->limits;

	if (slot->worker <= 0)
		return err_set(err, ERR_MISSING, "there is no worker");
	if (files_resize(&slot->files, worker_disk_bytes(limits), worker_disk_inodes(limits), err) <
		0)
		return -1;
	return set_limits(slot, msg, err);
}

/*
 * Node looks for modules in node_modules beside the program, and in those of their own folders.  The
 * program cannot make links, so this is the only one below /work.
 */
static int show_modules(struct slot *slot, const char *set, struct err *err)
{
	char folder[SLOTMSG_TEXT_MAX + 32];

	if (!set[0])
		return 0;
	cut_printf(folder, sizeof(folder), JAIL_SETS_DIR "/%s/" SLOTMSG_MODULES, set);
	if (symlinkat(folder, slot->files.mount, "work/" SLOTMSG_MODULES) < 0)
		return err_sys(err, "node_modules");
	return 0;
}

static int on_adjust(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	struct slotmsg adjusted = slot_answer(slot, SLOTMSG_ADJUSTED);

	if (slot_adjust(slot, msg, &why) < 0 || show_modules(slot, msg->text, &why) < 0)
		return slot_tell_failure(slot, SLOTMSG_ADJUSTED, why.text, err);
	/* If the kernel does not report opened files, the file stays empty, which says so. */
	if (fds[0] >= 0 &&
		opened_start(&slot->opened, slot->files.mount, take_fd(&fds[0]), &why) < 0)
		opened_forget(&slot->opened);
	return slot_tell(slot, &adjusted, err);
}

/* ---- cells of a session --------------------------------------------------------------------- */

/* The facts of a cell, as slot_worker_ended() has those of a run. */
static int report_cell(struct slot *slot, struct slotmsg *ended, struct err *err)
{
	notify_report(&slot->notify, ended);
	return add_disk_usage(slot, ended, err);
}

static int count_anew(struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	notify_begin_cell(&slot->notify);
	slot->cpu_base_us = (uint64_t)clock_us_of(slot->worker_clock);
	return set_limits(slot, msg, err);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table wants this type */
static int on_cell_end(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct slotmsg ended = slot_answer(slot, SLOTMSG_CELL_ENDED);
	struct err why = ERR_INIT;

	(void)fds;
	if (slot->worker <= 0)
		return slot_tell_failure(slot, SLOTMSG_CELL_ENDED, "the worker is dead", err);
	if (report_cell(slot, &ended, err) < 0)
		return -1;
	if (count_anew(slot, msg, &why) < 0)
		return slot_tell_failure(slot, SLOTMSG_CELL_ENDED, why.text, err);
	return slot_tell(slot, &ended, err);
}

/* ---- kept states ---------------------------------------------------------------------------- */

static int tell_state(const struct slot *slot, enum slotmsg_kind kind, uint32_t number, pid_t pid,
	const struct err *why, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, kind);

	msg.state = number;
	msg.pid = pid;
	if (why) {
		msg.status = -1;
		cut_printf(msg.text, sizeof(msg.text), "%s", why->text);
	}
	return slot_tell(slot, &msg, err);
}

static int on_keep(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	unsigned count = 0;

	while (count < 1 + SLOTMSG_JOIN_FDS_MAX && fds[count] >= 0)
		count++;
	if (slot->worker <= 0)
		(void)err_set(&why, ERR_MISSING, "the worker is dead");
	else if (states_begin(&slot->states, msg->state, fds, count, &why) == 0) {
		notify_permit(&slot->notify, slot->worker);
		return tell_state(slot, SLOTMSG_PERMITTED, msg->state, slot->worker, NULL, err);
	}
	return tell_state(slot, SLOTMSG_KEPT, msg->state, 0, &why, err);
}

/* If it is not who it should be, everything in the pid namespace dies. */
static int on_hello(struct slot *slot, struct err *err)
{
	const uint32_t number = slot->states.making;
	struct err why = ERR_INIT;
	struct state state = { .pid = 0 };
	int heard = states_hear(&slot->states, slot->worker, &state, &why);

	notify_permit(&slot->notify, 0);
	if (heard > 0) {
		slot->notify.has_forked = false;
		return tell_state(slot, SLOTMSG_KEPT, number, state.pid, NULL, err);
	}
	if (heard < 0)
		slot_kill(slot);
	return tell_state(slot, SLOTMSG_KEPT, number, 0, &why, err);
}

/* A worker that lives is one that the daemon has killed. */
static int promote(struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	struct state state;

	if (slot->init <= 0)
		return err_set(err, ERR_MISSING, "nothing lives");
	if (states_promote(&slot->states, msg->state, &state, err) < 0)
		return -1;
	if (slot->worker > 0)
		states_bury(&slot->states, slot->worker, slot->worker_fd);
	slot->worker = state.pid;
	slot->worker_fd = state.pidfd;
	slot->cpu_spent = false;
	if (clock_getcpuclockid(state.pid, &slot->worker_clock) != 0)
		return err_sys(err, "cpu clock of a state");
	return count_anew(slot, msg, err);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table wants this type */
static int on_promote(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;

	(void)fds;
	if (promote(slot, msg, &why) < 0)
		return tell_state(slot, SLOTMSG_PROMOTED, msg->state, 0, &why, err);
	return tell_state(slot, SLOTMSG_PROMOTED, msg->state, slot->worker, NULL, err);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table wants this type */
static int on_state_drop(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	(void)fds;
	(void)err;
	(void)states_drop(&slot->states, msg->state);
	return 0;
}

static int on_state_ends(struct slot *slot, struct err *err)
{
	uint32_t number;

	while (states_reap(&slot->states, &number))
		if (number && tell_state(slot, SLOTMSG_STATE_GONE, number, 0, NULL, err) < 0)
			return -1;
	return 0;
}

/* ---- the network ----------------------------------------------------------------------------- */

static int on_network(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	struct slotmsg networked = slot_answer(slot, SLOTMSG_NETWORKED);

	(void)msg;
	if (!slot->networked || slot->worker <= 0)
		(void)err_set(&why, ERR_MISSING, "there is no worker with a network");
	else if (slot_network_open(fds[0], slot->files.mount, fds[1], &why) == 0)
		return slot_tell(slot, &networked, err);
	return slot_tell_failure(slot, SLOTMSG_NETWORKED, why.text, err);
}

/* ---- CPU time ----------------------------------------------------------------------------- */

/* How long poll() may wait: the rest of the limit, as if the worker had all processors. */
static int watch_cpu(struct slot *slot)
{
	uint64_t used_us;
	uint64_t wait_ms;

	if (slot->worker <= 0 || slot->cpu_limit_us == 0)
		return -1;
	used_us = (uint64_t)clock_us_of(slot->worker_clock) - slot->cpu_base_us;
	if (used_us >= slot->cpu_limit_us + CPU_MAKING_US) {
		slot->cpu_spent = true;
		slot_kill_run(slot);
		return -1;
	}
	wait_ms = (slot->cpu_limit_us + CPU_MAKING_US - used_us) / 1000 / slot->processors + 1;
	return wait_ms < CPU_LOOK_MS_MAX ? (int)wait_ms : CPU_LOOK_MS_MAX;
}

/* ---- serving ------------------------------------------------------------------------------ */

static int (*const slot_handlers[SLOTMSG_KIND_COUNT])(
	struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err) = {
	[SLOTMSG_WORKER_MAKE] = on_make,
	[SLOTMSG_ADJUST] = on_adjust,
	[SLOTMSG_NETWORK] = on_network,
	[SLOTMSG_COLLECT] = on_collect,
	[SLOTMSG_WORKER_DROP] = on_drop,
	[SLOTMSG_CELL_END] = on_cell_end,
	[SLOTMSG_KEEP] = on_keep,
	[SLOTMSG_PROMOTE] = on_promote,
	[SLOTMSG_STATE_DROP] = on_state_drop,
};

/* The result of one message: 0 and 1 as of slot_serve(), 2: go on. */
enum {
	SERVED_GONE = 0,
	SERVED_WORKER = 1,
	SERVED_ON = 2
};

static int slot_on_message(struct slot *slot, struct err *err)
{
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	unsigned fd_count = 0;
	int result = slotmsg_recv(slot->sock, &msg, fds, &fd_count, err);

	if (result <= 0)
		return result;
	for (unsigned i = fd_count; i < COUNT_OF(fds); i++)
		fds[i] = -1;
	if (!slot_handlers[msg.kind]) {
		close_fds(fds, fd_count);
		return err_set(
			err, ERR_PROTOCOL, "%s is not for a slot", slotmsg_kind_word(msg.kind));
	}
	result = slot_handlers[msg.kind](slot, &msg, fds, err);
	if (result > 0)
		return SERVED_WORKER; /* which has its descriptors where it needs them */
	close_fds(fds, fd_count);
	return result < 0 ? -1 : SERVED_ON;
}

enum {
	POLL_SOCK,
	POLL_WORKER,
	POLL_INIT,
	POLL_COLLECTOR,
	POLL_NOTIFY,
	POLL_LISTENER,
	POLL_OPENED,
	POLL_HELLO,
	POLL_STATES, /* and behind it */
	POLL_COUNT = POLL_STATES + STATES_PROCESSES_MAX
};

/* The filter refused a call of the program: it is answered, or the run is killed. */
static int on_refusal(struct slot *slot, struct err *err)
{
	const struct slotmsg refused = slot_answer(slot, SLOTMSG_WORKER_REFUSED);

	if (notify_is_first(&slot->notify) && slot_tell(slot, &refused, err) < 0)
		return -1;
	if (notify_answer(&slot->notify) == REFUSAL_END)
		slot_kill_run(slot);
	return 0;
}

/* While the child of a permitted fork may be there and has not said hello. */
static void reap_stranger(struct slot *slot)
{
	const pid_t others[] = { slot->worker, slot->init, slot->collector };

	if (slot->notify.has_forked &&
		states_reap_stranger(&slot->states, others, COUNT_OF(others)))
		slot->notify.has_forked = false;
}

static int on_ends(struct slot *slot, const struct pollfd *polls, struct err *err)
{
	if (polls[POLL_WORKER].revents && slot_worker_ended(slot, err) < 0)
		return -1;
	if (polls[POLL_INIT].revents && slot->init > 0)
		slot_reap(&slot->init, &slot->init_fd, NULL, NULL);
	if (polls[POLL_COLLECTOR].revents && slot_collector_ended(slot, err) < 0)
		return -1;
	reap_stranger(slot);
	return slot->states.count ? on_state_ends(slot, err) : 0;
}

/* Where there are states; returns how many places of `polls` are in use. */
static nfds_t poll_states(const struct states *states, struct pollfd *polls)
{
	for (unsigned i = 0; i < states->count; i++)
		polls[POLL_STATES + i] =
			(struct pollfd){ .fd = states->list[i].pidfd, .events = POLLIN };
	return POLL_STATES + states->count;
}

/* How long to wait for anything; -1: for ever. */
static int wait_most_ms(struct slot *slot)
{
	int wait_ms = watch_cpu(slot);

	if (notify_is_resting(&slot->notify))
		return 1;
	if (slot->notify.has_forked && (wait_ms < 0 || wait_ms > STRANGER_LOOK_MS))
		return STRANGER_LOOK_MS;
	return wait_ms;
}

static int slot_serve_once(struct slot *slot, struct err *err)
{
	struct pollfd polls[POLL_COUNT] = {
		[POLL_SOCK] = { .fd = slot->sock, .events = POLLIN },
		[POLL_WORKER] = { .fd = slot->worker_fd, .events = POLLIN },
		[POLL_INIT] = { .fd = slot->init_fd, .events = POLLIN },
		[POLL_COLLECTOR] = { .fd = slot->collector_fd, .events = POLLIN },
		[POLL_NOTIFY] = { .fd = slot->notify.hear, .events = POLLIN },
		[POLL_LISTENER] = { .fd = slot->notify.listener, .events = POLLIN },
		[POLL_OPENED] = { .fd = slot->opened.notify, .events = POLLIN },
		[POLL_HELLO] = { .fd = slot->states.hello, .events = POLLIN },
	};
	int result = SERVED_ON;
	int wait_ms = wait_most_ms(slot);

	if (notify_is_resting(&slot->notify))
		polls[POLL_LISTENER].fd = -1;
	if (poll(polls, poll_states(&slot->states, polls), wait_ms) < 0)
		return errno == EINTR ? SERVED_ON : err_sys(err, "poll");
	if (polls[POLL_NOTIFY].revents)
		notify_take_listener(&slot->notify);
	if ((polls[POLL_LISTENER].revents & POLLIN) && on_refusal(slot, err) < 0)
		return -1;
	if (polls[POLL_LISTENER].revents & (POLLHUP | POLLERR))
		notify_drop_listener(&slot->notify);
	if (polls[POLL_OPENED].revents)
		(void)opened_take(&slot->opened);
	if (polls[POLL_HELLO].revents && on_hello(slot, err) < 0)
		return -1;
	if (on_ends(slot, polls, err) < 0)
		return -1;
	if (polls[POLL_SOCK].revents)
		result = slot_on_message(slot, err);
	if (result == SERVED_ON && slot_settle(slot, err) < 0)
		return -1;
	return result;
}

int slot_serve(struct slot *slot, struct err *err)
{
	int result = SERVED_ON;

	while (result == SERVED_ON)
		result = slot_serve_once(slot, err);
	/* a message to a daemon that has left is no failure of ours */
	return result < 0 && err->code == ERR_CLOSED ? 0 : result;
}
