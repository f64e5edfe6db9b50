#include <assert.h>
#include <poll.h>

#include "daemon/workers/ways.h"
#include "daemon/workers/worker_parts.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

/*
 * A slot also counts the cpu time of making the worker, which is much on a slow machine.  Where a
 * cgroup counts the run alone, the daemon enforces the cpu limit, and the slot's higher limit is a
 * backstop.
 */
#define CPU_BACKSTOP_MS 1000

#define LOOK_AGAIN_US 1000000

#define TO(state) (1U << (unsigned)WORKER_##state)

static const struct {
	const char *name;
	unsigned next;
} states[] = {
	[WORKER_OPENING] = { "opening", TO(EMPTY) | TO(GONE) },
	[WORKER_EMPTY] = { "empty", TO(MAKING) | TO(GONE) },
	[WORKER_MAKING] = { "making", TO(WARM) | TO(ENDING) | TO(GONE) },
	[WORKER_WARM] = { "warm", TO(TAKEN) | TO(ENDING) | TO(GONE) },
	[WORKER_TAKEN] = { "taken", TO(RUNNING) | TO(ENDING) | TO(GONE) },
	[WORKER_RUNNING] = { "running", TO(ENDING) | TO(GONE) },
	[WORKER_ENDING] = { "ending", TO(EMPTY) | TO(GONE) },
	[WORKER_GONE] = { "gone", 0 },
};

const char *worker_state_word(enum worker_state state)
{
	return states[state].name;
}

void worker_move(struct worker *worker, enum worker_state next)
{
	assert(states[worker->state].next & (1U << (unsigned)next));
	if (worker->state == WORKER_WARM)
		list_remove(&worker->ready_link);
	worker->state = next;
	worker->moved_us = clock_us();
}

static bool is_left(const struct watch *watch)
{
	struct pollfd poll_fd = { .fd = watch ? watch_fd(watch) : -1 };

	return !watch || (poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLHUP));
}

bool worker_is_deserted(const struct worker *worker)
{
	return worker->lifeline < 0 && is_left(worker->job) && is_left(worker->out) &&
	       is_left(worker->errout);
}

bool worker_still_dies(struct worker *worker)
{
	uint64_t cpu_us = knobs_cpu_us(&worker->knobs);
	bool grew = cpu_us > worker->dying_cpu_us;

	worker->dying_cpu_us = cpu_us;
	return grew;
}

bool worker_is_stuck(struct worker *worker)
{
	bool waits = worker->state == WORKER_OPENING || worker->state == WORKER_MAKING ||
		     worker->state == WORKER_ENDING;

	int64_t silence_ms = worker->doubted ? WORKER_DOUBT_MS : WORKER_SILENCE_MS;

	if (!waits || clock_us() - worker->moved_us <= silence_ms * 1000)
		return false;
	if (worker->state != WORKER_ENDING || !worker_still_dies(worker))
		return true;
	/* Many processes with much memory take long to die.  It is looked at again in a second. */
	worker->moved_us = clock_us() - silence_ms * 1000 + LOOK_AGAIN_US;
	return false;
}

/* ---- making --------------------------------------------------------------------------------- */

struct worker *worker_new(struct zygote *zygote, uint32_t index, int slot_sock, struct knobs *knobs)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker) {
		close(slot_sock);
		return NULL;
	}
	list_init(&worker->link);
	list_init(&worker->ready_link);
	worker->zygote = zygote;
	worker->index = index;
	worker->state = WORKER_OPENING;
	worker->moved_us = clock_us();
	worker->lifeline = -1;
	worker->outgoing_fd = -1;
	worker->knobs = *knobs;
	knobs_init(knobs);
	knobs_settle(&worker->knobs);
	worker->slot =
		watch_new(zygote_loop(zygote), slot_sock, UV_READABLE, worker_on_slot, worker);
	if (!worker->slot) {
		knobs_done(&worker->knobs);
		free(worker);
		return NULL;
	}
	return worker;
}

void worker_opened(struct worker *worker)
{
	worker_move(worker, WORKER_EMPTY);
}

static int send_make(struct worker *worker, const struct ways *ways,
	const struct job_limits *limits, struct err *err)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_MAKE);
	int fds[] = { ways->job.theirs, ways->out.theirs, ways->errout.theirs,
		ways->lifeline.theirs };

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	worker_lease_limits(worker, limits, &msg);
	return slotmsg_send(watch_fd(worker->slot), &msg, fds, 4, err);
}

void worker_lease_limits(
	const struct worker *worker, const struct job_limits *limits, struct slotmsg *msg)
{
	msg->limits.memory_bytes = limits->memory_bytes;
	msg->limits.disk_bytes = limits->disk_bytes;
	msg->limits.inodes = limits->inodes;
	msg->limits.cpu_ms = limits->cpu_ms;
	if (knobs_hold(&worker->knobs, KNOB_CPU_USAGE))
		msg->limits.cpu_ms += CPU_BACKSTOP_MS;
	msg->limits.pids = limits->pids;
	msg->limits.open_files = limits->open_files;
	msg->limits.file_bytes = limits->file_bytes;
	if (!knobs_hold(&worker->knobs, KNOB_MEMORY_MAX))
		msg->flags |= SLOTMSG_FLAG_RLIMIT_MEMORY;
	if (!knobs_hold(&worker->knobs, KNOB_PIDS_MAX))
		msg->flags |= SLOTMSG_FLAG_RLIMIT_PIDS;
}

static void watch_ways(struct worker *worker, struct ways *ways)
{
	uv_loop_t *loop = zygote_loop(worker->zygote);

	worker->job = watch_new(loop, take_fd(&ways->job.ours), UV_READABLE, worker_on_job, worker);
	worker->out =
		watch_new(loop, take_fd(&ways->out.ours), UV_READABLE, worker_on_stdout, worker);
	worker->errout =
		watch_new(loop, take_fd(&ways->errout.ours), UV_READABLE, worker_on_stderr, worker);
	worker->lifeline = take_fd(&ways->lifeline.ours);
}

/* Resets the data about the last worker in this slot. */
static void forget_last(struct worker *worker)
{
	worker->told_made = false;
	worker->told_ready = false;
	worker->words = 0;
	worker->refused = false;
	worker->done_run[0] = '\0';
	worker->ended = false;
	worker->doubted = false;
	buf_init(&worker->incoming, sizeof(struct job_head) + SLOTMSG_REPORT_MAX + 4096);
	buf_init(&worker->outgoing, sizeof(struct job_head) + SLOTMSG_BODY_MAX);
	worker->outgoing_at = 0;
}

void worker_make(struct worker *worker, const struct job_limits *limits)
{
	struct ways ways;
	struct err err = ERR_INIT;

	worker_move(worker, WORKER_MAKING);
	forget_last(worker);
	worker->sequence++;
	worker->made_us = clock_us();
	worker->made_with = *limits;
	job_limits_settle(&worker->made_with);
	if (knobs_set(&worker->knobs, limits) < 0) {
		worker_lose(worker, "its cgroup refuses the limits");
		return;
	}
	if (ways_open(&ways, &err) < 0) {
		worker_lose(worker, err.text);
		return;
	}
	if (send_make(worker, &ways, &worker->made_with, &err) < 0) {
		ways_close(&ways);
		worker_lose(worker, err.text);
		return;
	}
	ways_close_theirs(&ways);
	watch_ways(worker, &ways);
	if (!worker->job || !worker->out || !worker->errout)
		worker_lose(worker, "no memory to watch it");
}

/* ---- running and ending --------------------------------------------------------------------- */

void worker_take(struct worker *worker, const struct worker_events *events, void *owner)
{
	worker_move(worker, WORKER_TAKEN);
	worker->events = events;
	worker->owner = owner;
}

int worker_send_job(struct worker *worker, char *body, size_t len, int stdin_fd)
{
	if (!worker->job) {
		free(body);
		if (stdin_fd >= 0)
			close(stdin_fd);
		return -1;
	}
	worker_move(worker, WORKER_RUNNING);
	buf_done(&worker->outgoing);
	buf_init(&worker->outgoing, len);
	worker->outgoing.bytes = body;
	worker->outgoing.len = len;
	worker->outgoing.size = len;
	worker->outgoing_at = 0;
	worker->outgoing_fd = stdin_fd;
	worker_send_rest(worker);
	return 0;
}

int worker_adjust(struct worker *worker, const struct job_limits *limits, int files_fd)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_ADJUST);
	struct err err = ERR_INIT;

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	worker_lease_limits(worker, limits, &msg);
	return slotmsg_send(watch_fd(worker->slot), &msg, &files_fd, files_fd >= 0, &err);
}

void worker_kill(struct worker *worker)
{
	if (worker->lifeline >= 0)
		close(take_fd(&worker->lifeline));
}

void worker_done(struct worker *worker, const char *run_id)
{
	cut_printf(worker->done_run, sizeof(worker->done_run), "%s", run_id ? run_id : "");
	worker_kill(worker);
}

void worker_kill_harder(struct worker *worker)
{
	worker_kill(worker);
	if (!worker->ended)
		knobs_kill(&worker->knobs);
}

int worker_collect(struct worker *worker, int pipe_fd, int globs_fd, uint64_t bytes, uint32_t count)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_COLLECT);
	struct err err = ERR_INIT;
	int fds[] = { pipe_fd, globs_fd };

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	msg.artifact_bytes = bytes;
	msg.artifact_count = count;
	return slotmsg_send(watch_fd(worker->slot), &msg, fds, 2, &err);
}

void worker_close_ways(struct worker *worker)
{
	watch_close(worker->job);
	watch_close(worker->out);
	watch_close(worker->errout);
	worker->job = NULL;
	worker->out = NULL;
	worker->errout = NULL;
	if (worker->lifeline >= 0)
		close(take_fd(&worker->lifeline));
	if (worker->outgoing_fd >= 0)
		close(take_fd(&worker->outgoing_fd));
	buf_done(&worker->incoming);
	buf_done(&worker->outgoing);
}

void worker_let_go(struct worker *worker, const char *why)
{
	void *owner = worker->owner;

	if (worker->state == WORKER_GONE)
		return;
	worker_kill_harder(worker);
	worker_move(worker, WORKER_GONE);
	worker->owner = NULL;
	watch_close(worker->slot); /* the slot leaves when its socket closes */
	worker->slot = NULL;
	if (owner)
		worker->events->gone(owner, why);
	worker_close_ways(worker);
	zygote_on_slot_lost(worker->zygote, worker);
}

/* The slot closed its socket or broke the protocol: no part of it can be used again. */
void worker_lose(struct worker *worker, const char *why)
{
	if (worker->state != WORKER_GONE)
		log_event(LOG_LEVEL_WARNING, "slot.lost", LOG_INT("slot", worker->index),
			LOG_STR("state", worker_state_word(worker->state)), LOG_STR("why", why));
	worker_let_go(worker, why);
}

void worker_release(struct worker *worker)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_DROP);
	struct err err = ERR_INIT;

	worker->owner = NULL;
	if (worker->state == WORKER_GONE)
		return;
	if (worker->state != WORKER_ENDING)
		worker_move(worker, WORKER_ENDING);
	worker_kill(worker);
	worker_close_ways(worker);
	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	if (slotmsg_send(watch_fd(worker->slot), &msg, NULL, 0, &err) < 0)
		worker_lose(worker, err.text);
}

void worker_close(struct worker *worker)
{
	if (worker->state == WORKER_WARM)
		list_remove(&worker->ready_link);
	list_remove(&worker->link);
	worker_close_ways(worker);
	watch_close(worker->slot);
	knobs_done(&worker->knobs);
	free(worker);
}
