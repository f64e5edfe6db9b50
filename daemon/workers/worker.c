#include "daemon/workers/worker.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/runs/execution.h"
#include "daemon/workers/ways.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

/*
 * A slot's clock counts what making the worker took, too, and on a slow machine that is much.  Where
 * a cgroup counts the run alone we hold its cpu time ourselves, and the slot is there if we are not.
 */
#define CPU_BACKSTOP_MS 1000

#define VISIT_MESSAGES 16 /* from one slot in one turn of the loop: the others come first */
#define WORDS_MAX      16 /* from one worker in its life; an honest one has four */

#define COMPLAINT_MAX       400 /* bytes of what an interpreter says that cannot start */
#define COMPLAINTS_A_MINUTE 6

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

static void move(struct worker *worker, enum worker_state next)
{
	assert(states[worker->state].next & (1U << (unsigned)next));
	if (worker->state == WORKER_WARM)
		list_remove(&worker->ready_link);
	worker->state = next;
	worker->moved_us = clock_us();
}

bool worker_is_stuck(const struct worker *worker)
{
	bool waits = worker->state == WORKER_OPENING || worker->state == WORKER_MAKING ||
		     worker->state == WORKER_ENDING;

	return waits && clock_us() - worker->moved_us > (int64_t)WORKER_SILENCE_MS * 1000;
}

/* ---- what comes from the slot --------------------------------------------------------------- */

static void close_pipes(struct worker *worker)
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

/* The slot broke off or broke the protocol: nothing of it can be used again. */
void worker_lose(struct worker *worker, const char *why)
{
	struct execution *execution = worker->execution;

	if (worker->state == WORKER_GONE)
		return;
	log_event(LOG_LEVEL_WARNING, "slot.lost", LOG_INT("slot", worker->index),
		LOG_STR("state", worker_state_word(worker->state)), LOG_STR("why", why));
	worker_kill_harder(worker);
	move(worker, WORKER_GONE);
	worker->execution = NULL;
	watch_close(worker->slot); /* the slot leaves when its socket closes */
	worker->slot = NULL;
	if (execution)
		execution_on_worker_gone(execution, why);
	close_pipes(worker);
	zygote_on_slot_lost(worker->zygote, worker);
}

static void making_failed(struct worker *worker, const char *why)
{
	worker->misses++;
	log_event(LOG_LEVEL_WARNING, "worker.not_made", LOG_INT("slot", worker->index),
		LOG_INT("misses", worker->misses), LOG_STR("why", why));
	worker->ended = true;
	worker_release(worker);
}

static void become_warm(struct worker *worker)
{
	if (worker->state != WORKER_MAKING || !worker->told_ready || !worker->told_made)
		return;
	if (!worker->job || !worker->out || !worker->errout) {
		making_failed(worker, "it closed a stream before it had a job");
		return;
	}
	worker->misses = 0;
	worker->warm_us = clock_us();
	knobs_begin(&worker->knobs, &worker->before);
	move(worker, WORKER_WARM);
	zygote_on_warm(worker->zygote, worker);
}

static void on_ended(struct worker *worker, const struct lease_msg *msg)
{
	struct execution *execution = worker->execution;

	if (execution && worker->ended) {
		worker_lose(worker, "it died twice");
		return;
	}
	worker->ended = true;
	if (execution)
		execution_on_worker_ended(execution, msg);
	else if (worker->state == WORKER_MAKING)
		making_failed(worker, "it died while it was made");
	else if (worker->state == WORKER_WARM)
		worker_release(worker);
}

static void on_dropped(struct worker *worker)
{
	if (worker->state != WORKER_ENDING)
		return;
	move(worker, WORKER_EMPTY);
	zygote_on_empty(worker->zygote, worker);
}

static void on_slot_message(struct worker *worker, const struct lease_msg *msg)
{
	/* What is said about an earlier worker of this slot is late and means nothing now. */
	if (msg->sequence != worker->sequence)
		return;
	switch (msg->kind) {
	case LEASE_WORKER_MADE:
		worker->told_made = true;
		become_warm(worker);
		return;
	case LEASE_WORKER_FAILED:
		if (worker->state == WORKER_MAKING)
			making_failed(worker, msg->text);
		return;
	case LEASE_ADJUSTED:
		if (worker->execution)
			execution_on_adjusted(worker->execution, msg);
		return;
	case LEASE_WORKER_REFUSED:
		worker->refused = true;
		return;
	case LEASE_WORKER_ENDED:
		on_ended(worker, msg);
		return;
	case LEASE_COLLECTED:
		if (worker->execution)
			execution_on_collected(worker->execution);
		return;
	case LEASE_DROPPED:
		on_dropped(worker);
		return;
	default:
		worker_lose(worker, "a message out of turn");
	}
}

bool worker_has_news(const struct worker *worker)
{
	char byte;

	return worker->refused ||
	       recv(watch_fd(worker->slot), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void on_slot(void *owner, int events)
{
	struct worker *worker = owner;

	(void)events;
	for (int messages = 0; messages < VISIT_MESSAGES && worker->state != WORKER_GONE;
		messages++) {
		struct lease_msg msg;
		int fds[1 + LEASE_JOIN_FDS_MAX];
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = lease_recv(watch_fd(worker->slot), &msg, fds, &count, &err);

		if (got < 0 && err.code == ERR_BUSY)
			return;
		if (got > 0)
			close_fds(fds, count); /* a slot has no descriptor to give */
		if (got > 0)
			on_slot_message(worker, &msg);
		else
			worker_lose(worker, got < 0 ? err.text : "it has gone");
	}
}

/* ---- what comes from the worker ------------------------------------------------------------- */

static void job_broken(struct worker *worker)
{
	watch_close(worker->job);
	worker->job = NULL;
	if (worker->execution)
		execution_on_job_broken(worker->execution);
	else if (worker->state == WORKER_WARM)
		worker_release(worker); /* nobody shall be given one that cannot be spoken to */
					/* Otherwise its death is told by the slot. */
}

static void on_job_message(struct worker *worker, const struct job_head *head, const char *body)
{
	if (head->kind == JOB_READY && worker->state == WORKER_MAKING) {
		worker->told_ready = true;
		become_warm(worker);
	} else if (worker->execution) {
		execution_on_job_message(worker->execution, head, body);
	}
}

/*
 * Hands on every whole message.  -1 when what came is no message, or one too many: a program could
 * have us read heads for as long as it runs, at a twentieth of the time that it takes us.  The rest moves to the front
 * once and not after each message: a program that floods us with heads must not hold the loop.
 */
static int cut_messages(struct worker *worker)
{
	size_t at = 0;

	while (worker->job && worker->incoming.len - at >= sizeof(struct job_head)) {
		struct job_head head;

		memcpy(&head, worker->incoming.bytes + at, sizeof(head));
		if (head.magic != LEASE_MAGIC || head.kind <= JOB_START ||
			head.kind >= JOB_KIND_COUNT || head.len > LEASE_REPORT_MAX)
			return -1;
		if (worker->incoming.len - at < sizeof(head) + head.len)
			break;
		if (++worker->words > WORDS_MAX)
			return -1;
		on_job_message(worker, &head, worker->incoming.bytes + at + sizeof(head));
		at += sizeof(head) + head.len;
	}
	if (worker->job)
		buf_consume(&worker->incoming, at);
	return 0;
}

static void send_rest(struct worker *worker)
{
	size_t left = worker->outgoing.len - worker->outgoing_at;
	struct err err = ERR_INIT;
	ssize_t sent;

	if (!left)
		return;
	sent = send_with_fds(watch_fd(worker->job), worker->outgoing.bytes + worker->outgoing_at,
		left, &worker->outgoing_fd, worker->outgoing_fd >= 0 ? 1 : 0, &err);
	if (sent < 0 && err.code != ERR_BUSY) {
		buf_done(&worker->outgoing); /* its end is told on its own way */
		worker->outgoing_at = 0;
		watch_want(worker->job, UV_READABLE);
		return;
	}
	if (sent > 0 && worker->outgoing_fd >= 0)
		close(take_fd(&worker->outgoing_fd));
	worker->outgoing_at += sent > 0 ? (size_t)sent : 0;
	if (worker->outgoing_at < worker->outgoing.len) {
		watch_want(worker->job, UV_READABLE | UV_WRITABLE);
		return;
	}
	buf_done(&worker->outgoing);
	worker->outgoing_at = 0;
	watch_want(worker->job, UV_READABLE);
}

/* Reads once and hands on what became whole.  False when nothing was there, or nothing will be. */
static bool read_job(struct worker *worker)
{
	ssize_t got;

	if (buf_reserve(&worker->incoming, 4096) < 0) {
		job_broken(worker);
		return false;
	}
	got = read(watch_fd(worker->job), worker->incoming.bytes + worker->incoming.len,
		worker->incoming.size - worker->incoming.len);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		job_broken(worker);
		return false;
	}
	worker->incoming.len += (size_t)got;
	if (cut_messages(worker) < 0)
		job_broken(worker);
	return worker->job != NULL;
}

static void on_job(void *owner, int events)
{
	struct worker *worker = owner;

	if (events & UV_WRITABLE)
		send_rest(worker);
	if (events & UV_READABLE)
		(void)read_job(worker);
}

void worker_drain_job(struct worker *worker)
{
	/* A dead worker left at most what its socket holds; the bound is a belt. */
	for (int reads = 0; worker->job && reads < 1024; reads++)
		if (!read_job(worker))
			return;
}

/* An interpreter that cannot start says why, and a healthy one nothing. */
static void log_complaint(const struct worker *worker, const char *bytes, size_t len)
{
	static struct log_limit limit;
	char text[COMPLAINT_MAX];
	const struct log_field fields[] = {
		LOG_INT("slot", worker->index),
		LOG_STR("text", text),
	};

	cut_printf(text, sizeof(text), "%.*s", (int)len, bytes);
	log_limited(&limit, COMPLAINTS_A_MINUTE, LOG_LEVEL_WARNING, "worker.says", fields,
		COUNT_OF(fields));
}

/* Nobody runs here yet: no program of anybody's can have said this.  become_warm() sees an end. */
static void on_early_output(struct worker *worker, struct watch **pipe, bool is_stderr)
{
	char bytes[4096];
	ssize_t got = read(watch_fd(*pipe), bytes, sizeof(bytes));

	if (got > 0 && is_stderr)
		log_complaint(worker, bytes, (size_t)got);
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	watch_close(*pipe);
	*pipe = NULL;
}

static void on_output(struct worker *worker, struct watch **pipe, bool is_stderr)
{
	if (worker->execution)
		execution_on_output(worker->execution, is_stderr);
	else if (worker->state == WORKER_WARM)
		worker_release(
			worker); /* its next program's output would not be its own, or none */
	else
		on_early_output(worker, pipe, is_stderr);
}

static void on_stdout(void *owner, int events)
{
	struct worker *worker = owner;

	(void)events;
	on_output(worker, &worker->out, false);
}

static void on_stderr(void *owner, int events)
{
	struct worker *worker = owner;

	(void)events;
	on_output(worker, &worker->errout, true);
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
	worker->slot = watch_new(zygote_loop(zygote), slot_sock, UV_READABLE, on_slot, worker);
	if (!worker->slot) {
		knobs_done(&worker->knobs);
		free(worker);
		return NULL;
	}
	return worker;
}

void worker_opened(struct worker *worker)
{
	move(worker, WORKER_EMPTY);
}

static int send_make(struct worker *worker, const struct ways *ways,
	const struct job_limits *limits, struct err *err)
{
	struct lease_msg msg = lease_msg_of(LEASE_WORKER_MAKE);
	int fds[] = { ways->job.theirs, ways->out.theirs, ways->errout.theirs,
		ways->lifeline.theirs };

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	worker_lease_limits(worker, limits, &msg);
	return lease_send(watch_fd(worker->slot), &msg, fds, 4, err);
}

void worker_lease_limits(
	const struct worker *worker, const struct job_limits *limits, struct lease_msg *msg)
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
		msg->flags |= LEASE_FLAG_RLIMIT_MEMORY;
	if (!knobs_hold(&worker->knobs, KNOB_PIDS_MAX))
		msg->flags |= LEASE_FLAG_RLIMIT_PIDS;
}

static void watch_ways(struct worker *worker, struct ways *ways)
{
	uv_loop_t *loop = zygote_loop(worker->zygote);

	worker->job = watch_new(loop, take_fd(&ways->job.ours), UV_READABLE, on_job, worker);
	worker->out = watch_new(loop, take_fd(&ways->out.ours), UV_READABLE, on_stdout, worker);
	worker->errout =
		watch_new(loop, take_fd(&ways->errout.ours), UV_READABLE, on_stderr, worker);
	worker->lifeline = take_fd(&ways->lifeline.ours);
}

/* What was known of the last worker in this slot. */
static void forget_last(struct worker *worker)
{
	worker->told_made = false;
	worker->told_ready = false;
	worker->words = 0;
	worker->refused = false;
	worker->ended = false;
	buf_init(&worker->incoming, sizeof(struct job_head) + LEASE_REPORT_MAX + 4096);
	buf_init(&worker->outgoing, sizeof(struct job_head) + LEASE_BODY_MAX);
	worker->outgoing_at = 0;
}

void worker_make(struct worker *worker, const struct job_limits *limits)
{
	struct ways ways;
	struct err err = ERR_INIT;

	move(worker, WORKER_MAKING);
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

void worker_take(struct worker *worker, struct execution *execution)
{
	move(worker, WORKER_TAKEN);
	worker->execution = execution;
}

int worker_send_job(struct worker *worker, char *body, size_t len, int stdin_fd)
{
	if (!worker->job) {
		free(body);
		if (stdin_fd >= 0)
			close(stdin_fd);
		return -1;
	}
	move(worker, WORKER_RUNNING);
	buf_done(&worker->outgoing);
	buf_init(&worker->outgoing, len);
	worker->outgoing.bytes = body;
	worker->outgoing.len = len;
	worker->outgoing.size = len;
	worker->outgoing_at = 0;
	worker->outgoing_fd = stdin_fd;
	send_rest(worker);
	return 0;
}

int worker_adjust(struct worker *worker, const struct job_limits *limits, int files_fd)
{
	struct lease_msg msg = lease_msg_of(LEASE_ADJUST);
	struct err err = ERR_INIT;

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	worker_lease_limits(worker, limits, &msg);
	return lease_send(watch_fd(worker->slot), &msg, &files_fd, files_fd >= 0, &err);
}

void worker_kill(struct worker *worker)
{
	if (worker->lifeline >= 0)
		close(take_fd(&worker->lifeline));
}

void worker_kill_harder(struct worker *worker)
{
	worker_kill(worker);
	if (!worker->ended)
		knobs_kill(&worker->knobs);
}

int worker_collect(struct worker *worker, int pipe_fd, int globs_fd, uint64_t bytes, uint32_t count)
{
	struct lease_msg msg = lease_msg_of(LEASE_COLLECT);
	struct err err = ERR_INIT;
	int fds[] = { pipe_fd, globs_fd };

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	msg.artifact_bytes = bytes;
	msg.artifact_count = count;
	return lease_send(watch_fd(worker->slot), &msg, fds, 2, &err);
}

void worker_release(struct worker *worker)
{
	struct lease_msg msg = lease_msg_of(LEASE_WORKER_DROP);
	struct err err = ERR_INIT;

	worker->execution = NULL;
	if (worker->state == WORKER_GONE)
		return;
	if (worker->state != WORKER_ENDING)
		move(worker, WORKER_ENDING);
	worker_kill(worker);
	close_pipes(worker);
	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	if (lease_send(watch_fd(worker->slot), &msg, NULL, 0, &err) < 0)
		worker_lose(worker, err.text);
}

void worker_close(struct worker *worker)
{
	if (worker->state == WORKER_WARM)
		list_remove(&worker->ready_link);
	list_remove(&worker->link);
	close_pipes(worker);
	watch_close(worker->slot);
	knobs_done(&worker->knobs);
	free(worker);
}
