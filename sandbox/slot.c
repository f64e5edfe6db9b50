#include "sandbox/slot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "sandbox/slot_parts.h"
#include "sandbox/worker_limits.h"

#define CPU_LOOK_MS_MAX 60000
#define CPU_MAKING_US   10000 /* what making the worker took, at most: no run pays for it */

/* ---- telling ------------------------------------------------------------------------------ */

struct slotmsg slot_answer(const struct slot *slot, enum slotmsg_kind kind)
{
	struct slotmsg msg = slotmsg_of(kind);

	msg.slot = slot->index;
	msg.sequence = slot->sequence;
	return msg;
}

int slot_tell(const struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	return slotmsg_send(slot->sock, msg, NULL, 0, err);
}

int slot_tell_failure(
	const struct slot *slot, enum slotmsg_kind kind, const char *why, struct err *err)
{
	struct slotmsg msg = slot_answer(slot, kind);

	msg.status = -1;
	cut_printf(msg.text, sizeof(msg.text), "%s", why);
	return slot_tell(slot, &msg, err);
}

/* ---- what the daemon asks for -------------------------------------------------------------- */

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
	slot_kill(slot);
	return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the shape of the table */
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

/* ---- adjusting ---------------------------------------------------------------------------- */

static int adjust(struct slot *slot, const struct slotmsg *msg, struct err *err)
{
	const struct slotmsg_limits *limits = &msg->limits;

	if (slot->worker <= 0)
		return err_set(err, ERR_MISSING, "there is no worker");
	if (files_resize(&slot->files, worker_disk_bytes(limits), worker_disk_inodes(limits), err) <
		0)
		return -1;
	slot->cpu_limit_us = limits->cpu_ms * 1000;
	return worker_limits_set(slot->worker, limits, msg->flags, slot->own_bytes, err);
}

static int on_adjust(struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err)
{
	struct err why = ERR_INIT;
	struct slotmsg adjusted = slot_answer(slot, SLOTMSG_ADJUSTED);

	if (adjust(slot, msg, &why) < 0)
		return slot_tell_failure(slot, SLOTMSG_ADJUSTED, why.text, err);
	/* Where the kernel does not tell, the file stays empty, which says so. */
	if (fds[0] >= 0 &&
		opened_start(&slot->opened, slot->files.mount, take_fd(&fds[0]), &why) < 0)
		opened_forget(&slot->opened);
	return slot_tell(slot, &adjusted, err);
}

/* ---- cpu time ----------------------------------------------------------------------------- */

/* How long poll() may wait: what is left of the limit, were all processors the worker's. */
static int watch_cpu(struct slot *slot)
{
	uint64_t used_us;
	uint64_t wait_ms;

	if (slot->worker <= 0 || slot->cpu_limit_us == 0)
		return -1;
	used_us = (uint64_t)clock_us_of(slot->worker_clock);
	if (used_us >= slot->cpu_limit_us + CPU_MAKING_US) {
		slot->cpu_spent = true;
		slot_kill(slot);
		return -1;
	}
	wait_ms = (slot->cpu_limit_us + CPU_MAKING_US - used_us) / 1000 / slot->processors + 1;
	return wait_ms < CPU_LOOK_MS_MAX ? (int)wait_ms : CPU_LOOK_MS_MAX;
}

/* ---- serving ------------------------------------------------------------------------------ */

static int (*const answers[SLOTMSG_KIND_COUNT])(
	struct slot *slot, const struct slotmsg *msg, int *fds, struct err *err) = {
	[SLOTMSG_WORKER_MAKE] = on_make,
	[SLOTMSG_ADJUST] = on_adjust,
	[SLOTMSG_COLLECT] = on_collect,
	[SLOTMSG_WORKER_DROP] = on_drop,
};

/* As slot_serve(), for one message; 2: there may be more to come. */
enum {
	SERVED_GONE = 0,
	SERVED_WORKER = 1,
	SERVED_ON = 2
};

static int on_message(struct slot *slot, struct err *err)
{
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX] = { -1 };
	unsigned fd_count = 0;
	int result = slotmsg_recv(slot->sock, &msg, fds, &fd_count, err);

	if (result <= 0)
		return result;
	if (!answers[msg.kind]) {
		close_fds(fds, fd_count);
		return err_set(
			err, ERR_PROTOCOL, "%s is not for a slot", slotmsg_kind_word(msg.kind));
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
	POLL_HEAR,
	POLL_LISTENER,
	POLL_OPENED,
	POLL_COUNT
};

/* What the program wants that it may not: answered, or the end of the run. */
static int on_refusal(struct slot *slot, struct err *err)
{
	const struct slotmsg refused = slot_answer(slot, SLOTMSG_WORKER_REFUSED);

	if (hearing_first(&slot->hearing) && slot_tell(slot, &refused, err) < 0)
		return -1;
	if (hearing_answer(&slot->hearing) == REFUSAL_END)
		slot_kill(slot);
	return 0;
}

static int on_ends(struct slot *slot, const struct pollfd *polls, struct err *err)
{
	if (polls[POLL_WORKER].revents && slot_worker_ended(slot, err) < 0)
		return -1;
	if (polls[POLL_INIT].revents && slot->init > 0 && slot_init_ended(slot, err) < 0)
		return -1;
	if (polls[POLL_COLLECTOR].revents && slot_collector_ended(slot, err) < 0)
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
		[POLL_HEAR] = { .fd = slot->hearing.hear, .events = POLLIN },
		[POLL_LISTENER] = { .fd = slot->hearing.listener, .events = POLLIN },
		[POLL_OPENED] = { .fd = slot->opened.notify, .events = POLLIN },
	};
	int result = SERVED_ON;
	int wait_ms = watch_cpu(slot);

	if (hearing_rest(&slot->hearing)) {
		polls[POLL_LISTENER].fd = -1;
		wait_ms = 1;
	}
	if (poll(polls, POLL_COUNT, wait_ms) < 0)
		return errno == EINTR ? SERVED_ON : err_sys(err, "poll");
	if (polls[POLL_HEAR].revents)
		hearing_take(&slot->hearing);
	if ((polls[POLL_LISTENER].revents & POLLIN) && on_refusal(slot, err) < 0)
		return -1;
	if (polls[POLL_LISTENER].revents & (POLLHUP | POLLERR))
		hearing_over(&slot->hearing);
	if (polls[POLL_OPENED].revents)
		(void)opened_take(&slot->opened);
	if (on_ends(slot, polls, err) < 0)
		return -1;
	if (polls[POLL_SOCK].revents)
		result = on_message(slot, err);
	if (result == SERVED_ON && slot_settle(slot, err) < 0)
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
