#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/child_exit.h"
#include "sandbox/collect.h"
#include "sandbox/slot_parts.h"

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

/* A worker that died before it was in its jail has failed to be made. */
static int worker_never_was(struct slot *slot, int status, struct err *err)
{
	char why[SLOTMSG_TEXT_MAX];

	if (slot->note->text[0])
		cut_printf(why, sizeof(why), "worker: %s", slot->note->text);
	else
		cut_printf(why, sizeof(why), "worker: died on the way in, wait status %#x", status);
	slot_undo(slot);
	return slot_tell_failure(slot, SLOTMSG_WORKER_FAILED, why, err);
}

/* Whatever the program left running goes with it. */
int slot_worker_ended(struct slot *slot, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, SLOTMSG_WORKER_ENDED);
	struct rusage usage;

	slot_reap(&slot->worker, &slot->worker_fd, &msg.status, &usage);
	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
	if (!slot->note->entered)
		return worker_never_was(slot, msg.status, err);
	msg.usage = usage_of(&usage);
	msg.flags |= slot->cpu_spent ? SLOTMSG_FLAG_CPU_LIMIT : 0;
	hearing_tell(&slot->hearing, &msg);
	opened_tell(&slot->opened);
	if (add_disk_usage(slot, &msg, err) < 0)
		return -1;
	return slot_tell(slot, &msg, err);
}

int slot_init_ended(struct slot *slot, struct err *err)
{
	int status;
	struct rusage usage;

	(void)err;
	slot_reap(&slot->init, &slot->init_fd, &status, &usage);
	return 0;
}

int slot_collector_ended(struct slot *slot, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, SLOTMSG_COLLECTED);
	struct rusage usage;

	slot_reap(&slot->collector, &slot->collector_fd, &msg.status, &usage);
	return slot_tell(slot, &msg, err);
}

/* ---- collecting and dropping -------------------------------------------------------------- */

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
	slot_close(&slot->collect_fds[COLLECT_PIPE]);
	slot_close(&slot->collect_fds[COLLECT_GLOBS]);
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

/* Does what was asked for and had to wait until nobody was alive. */
int slot_settle(struct slot *slot, struct err *err)
{
	if (slot->worker > 0 || slot->init > 0 || slot->collector > 0)
		return 0;
	if (slot->drop_wanted)
		return dropped(slot, err);
	if (slot->collect_wanted)
		return start_collector(slot, err);
	return 0;
}

void slot_kill(struct slot *slot)
{
	if (slot->init > 0)
		(void)kill(slot->init, SIGKILL);
}
