#include "daemon/workers/worker.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/workers/worker_pipes.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/callname.h"

/*
 * A slot also counts the cpu time of making the worker, which is much on a slow machine.  Where a
 * cgroup counts the run alone, the daemon enforces the cpu limit, and the slot's higher limit is a
 * backstop.
 */
#define CPU_BACKSTOP_MS 1000

#define LOOK_AGAIN_US       1000000
#define LATE_A_MINUTE       60
#define VISIT_MESSAGES      16 /* from one slot in one turn of the loop; then others get theirs */
#define JOB_MESSAGES_MAX    16 /* from one worker in its life; an honest one sends at most four */
#define READ_BYTES          4096
#define OUTGOING_MAX        ((size_t)512 << 20) /* answers to calls; calls_at_once is the limit */
#define COMPLAINT_MAX       400 /* bytes of the message of an interpreter that cannot start */
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
	[WORKER_TAKEN] = { "taken", TO(RUNNING) | TO(KEPT) | TO(ENDING) | TO(GONE) },
	[WORKER_RUNNING] = { "running", TO(KEPT) | TO(ENDING) | TO(GONE) },
	[WORKER_KEPT] = { "kept", TO(TAKEN) | TO(ENDING) | TO(GONE) },
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

static void close_outgoing_fds(struct worker *worker)
{
	close_fds(worker->outgoing_fds, worker->outgoing_fd_count);
	worker->outgoing_fd_count = 0;
}

static void close_output(struct worker *worker)
{
	watch_close(worker->out);
	watch_close(worker->errout);
	worker->out = NULL;
	worker->errout = NULL;
}

/* Closes its job socket, its pipes and its lifeline. */
static void close_pipes(struct worker *worker)
{
	watch_close(worker->job);
	worker->job = NULL;
	close_output(worker);
	if (worker->lifeline >= 0)
		close(take_fd(&worker->lifeline));
	close_outgoing_fds(worker);
	buf_done(&worker->incoming);
	buf_done(&worker->outgoing);
}

/* ---- messages from its slot ----------------------------------------------------------------- */

static void making_failed(struct worker *worker, const char *why)
{
	worker->misses++;
	log_event(LOG_LEVEL_WARNING, "worker.not_made", LOG_INT("slot", worker->index),
		LOG_INT("misses", worker->misses), LOG_STR("why", why));
	worker_release(worker);
}

static void become_warm(struct worker *worker)
{
	if (worker->state != WORKER_MAKING || !worker->is_ready || !worker->is_made)
		return;
	if (!worker->job || !worker->out || !worker->errout) {
		making_failed(worker, "it closed a stream before it had a job");
		return;
	}
	worker->misses = 0;
	knobs_begin(&worker->knobs, &worker->before);
	move(worker, WORKER_WARM);
	zygote_on_warm(worker->zygote, worker);
}

/* Logs calls that were refused after the run's record was closed.  Only the log can show them. */
static void log_late_refusals(const struct worker *worker, const struct slotmsg *msg)
{
	static struct log_limit limit;

	for (uint32_t i = 0; i < msg->refused_count; i++) {
		const char *name = call_name(msg->refused[i].nr);
		const struct log_field fields[] = {
			LOG_STR("run", worker->done_run),
			LOG_INT("nr", msg->refused[i].nr),
			LOG_STR("call", name ? name : ""),
			LOG_INT("count", msg->refused[i].count),
		};

		log_limited(&limit, LATE_A_MINUTE, LOG_LEVEL_WARNING, "run.refused_after_done",
			fields, COUNT_OF(fields));
	}
}

static void on_ended(struct worker *worker, const struct slotmsg *msg)
{
	void *owner = worker->owner;

	if (worker->done_run[0])
		log_late_refusals(worker, msg);

	if (owner && worker->ended) {
		worker_lose(worker, "its slot reported its end twice");
		return;
	}
	worker->ended = true;
	if (owner)
		worker->events->ended(owner, msg);
	else if (worker->state == WORKER_MAKING)
		making_failed(worker, "it died before it was ready");
	else if (worker->state == WORKER_WARM)
		worker_release(worker);
}

static void exchange_leaf(struct worker *worker, struct knobs *leaf)
{
	const struct knobs knobs = worker->knobs;

	worker->knobs = *leaf;
	*leaf = knobs;
}

/* Nothing is left that could go on. */
static void return_to_first_leaf(struct worker *worker)
{
	for (unsigned i = 0; i < worker->leaf_count; i++)
		if (worker->leaves[i].is_first)
			exchange_leaf(worker, &worker->leaves[i]);
	worker->knobs.held_bytes = 0;
	if (worker->knobs.stands)
		(void)knobs_freeze(&worker->knobs, false);
}

/* The next session with states opens leaves of its own again. */
static void close_leaves(struct worker *worker)
{
	for (unsigned i = 0; i < worker->leaf_count; i++)
		knobs_done(&worker->leaves[i]);
	worker->leaf_count = 0;
}

static void on_dropped(struct worker *worker)
{
	if (worker->state != WORKER_ENDING)
		return;
	return_to_first_leaf(worker);
	worker->kept = 0;
	worker->gone_count = 0;
	move(worker, WORKER_EMPTY);
	zygote_on_empty(worker->zygote, worker);
}

static void on_state_message(struct worker *worker, const struct slotmsg *msg)
{
	if (worker->owner && worker->state == WORKER_KEPT)
		worker->events->state(worker->owner, msg);
	else if (msg->kind == SLOTMSG_STATE_GONE && worker->gone_count < COUNT_OF(worker->gone))
		worker->gone[worker->gone_count++] = msg->state;
}

static void on_slot_message(struct worker *worker, const struct slotmsg *msg)
{
	/* A message about an earlier worker of this slot is late and has no meaning now. */
	if (msg->sequence != worker->sequence)
		return;
	switch (msg->kind) {
	case SLOTMSG_WORKER_MADE:
		worker->is_made = true;
		become_warm(worker);
		return;
	case SLOTMSG_WORKER_FAILED:
		if (worker->state == WORKER_MAKING)
			making_failed(worker, msg->text);
		return;
	case SLOTMSG_ADJUSTED:
		if (worker->owner)
			worker->events->adjusted(worker->owner, msg);
		return;
	case SLOTMSG_NETWORKED:
		if (worker->owner && worker->events->networked)
			worker->events->networked(worker->owner, msg);
		return;
	case SLOTMSG_WORKER_REFUSED:
		worker->refused = true;
		return;
	case SLOTMSG_WORKER_ENDED:
		on_ended(worker, msg);
		return;
	case SLOTMSG_COLLECTED:
		if (worker->owner)
			worker->events->collected(worker->owner, msg);
		return;
	case SLOTMSG_DROPPED:
		on_dropped(worker);
		return;
	case SLOTMSG_PERMITTED:
	case SLOTMSG_KEPT:
	case SLOTMSG_PROMOTED:
	case SLOTMSG_STATE_GONE:
		on_state_message(worker, msg);
		return;
	case SLOTMSG_CELL_ENDED:
		if (worker->owner && worker->state == WORKER_RUNNING)
			worker->events->cell_ended(worker->owner, msg);
		return;
	default:
		worker_lose(worker, "its slot sent an unexpected message");
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
		struct slotmsg msg;
		int fds[1 + SLOTMSG_JOIN_FDS_MAX];
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = slotmsg_recv(watch_fd(worker->slot), &msg, fds, &count, &err);

		if (got < 0 && err.code == ERR_BUSY)
			return;
		if (got > 0)
			close_fds(fds, count); /* a slot has no descriptors to send */
		if (got > 0)
			on_slot_message(worker, &msg);
		else
			worker_lose(worker, got < 0 ? err.text : "its slot closed the socket");
	}
}

/* ---- data of the worker itself -------------------------------------------------------------- */

static void job_broken(struct worker *worker)
{
	watch_close(worker->job);
	worker->job = NULL;
	/* No run can use it.  Of a worker with an owner, the slot's report or a limit shows why. */
	if (!worker->owner && worker->state == WORKER_WARM)
		worker_release(worker);
}

static void on_job_message(struct worker *worker, const struct job_head *head, const char *body)
{
	if (head->kind == JOB_READY && worker->state == WORKER_MAKING) {
		worker->is_ready = true;
		become_warm(worker);
	} else if (worker->owner) {
		worker->events->job_message(worker->owner, head, body);
	}
}

/* A message may end the session, or make it go back to a state, with whose socket come other bytes. */
static bool has_job(const struct worker *worker, unsigned job)
{
	return worker->job && worker->jobs == job;
}

/*
 * Passes on every whole message.  -1: the bytes are no message, or the worker has sent too many.
 * Without that limit a program could send heads as long as it runs, and each costs it a twentieth
 * of the time that it costs the daemon.  Bytes to display have a limit of their own.
 *
 * The rest moves to the front once, and not after each message, so that a flood of heads does not
 * block the loop.
 */
static int cut_messages(struct worker *worker)
{
	const unsigned job = worker->jobs;
	size_t at = 0;

	while (has_job(worker, job) && worker->incoming.len - at >= sizeof(struct job_head)) {
		struct job_head head;

		memcpy(&head, worker->incoming.bytes + at, sizeof(head));
		if (head.magic != SLOTMSG_MAGIC || head.kind <= JOB_START ||
			head.kind >= JOB_KIND_COUNT || head.len > worker->job_message_bytes)
			return -1;
		if (worker->incoming.len - at < sizeof(head) + head.len)
			break;
		if (!(head.kind == JOB_DISPLAY && head.len && worker->displays) &&
			++worker->job_messages > worker->job_messages_most)
			return -1;
		on_job_message(worker, &head, worker->incoming.bytes + at + sizeof(head));
		at += sizeof(head) + head.len;
	}
	if (has_job(worker, job))
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
		left, worker->outgoing_fds, worker->outgoing_fd_count, &err);
	if (sent < 0 && err.code != ERR_BUSY) {
		buf_done(&worker->outgoing); /* its end is reported separately */
		worker->outgoing_at = 0;
		watch_want(worker->job, UV_READABLE);
		return;
	}
	if (sent > 0)
		close_outgoing_fds(worker);
	worker->outgoing_at += sent > 0 ? (size_t)sent : 0;
	if (worker->outgoing_at < worker->outgoing.len) {
		watch_want(worker->job, UV_READABLE | UV_WRITABLE);
		return;
	}
	buf_done(&worker->outgoing);
	worker->outgoing_at = 0;
	watch_want(worker->job, UV_READABLE);
	if (worker->owner && worker->events->drained)
		worker->events->drained(worker->owner);
}

/* Reads once and passes on whole messages.  False: nothing to read, now or ever. */
static bool read_job(struct worker *worker)
{
	ssize_t got;

	if (buf_reserve(&worker->incoming, READ_BYTES) < 0) {
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
	/* The socket of a dead worker holds a limited amount.  The bound is only a safeguard. */
	for (int reads = 0; worker->job && reads < 1024; reads++)
		if (!read_job(worker))
			return;
}

/* Logs the message of an interpreter that cannot start.  A healthy one writes nothing. */
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

/*
 * No program runs here yet, so this output is from no program.  become_warm() notices a
 * stream that has ended.
 */
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
	if (worker->owner)
		worker->events->output(worker->owner, is_stderr);
	else if (worker->state == WORKER_WARM)
		worker_release(
			worker); /* else its next run would get this output, or lose its own */
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
	worker->knobs = *knobs;
	knobs_init(knobs);
	worker->knobs.is_first = true;
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

static struct slotmsg message_to_slot(const struct worker *worker, enum slotmsg_kind kind)
{
	struct slotmsg msg = slotmsg_of(kind);

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	return msg;
}

/* Writes limits into a message to the slot, with flags for limits that no cgroup enforces. */
static void slot_limits(
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

static int send_make(struct worker *worker, const struct worker_pipes *pipes,
	const struct job_limits *limits, struct err *err)
{
	struct slotmsg msg = message_to_slot(worker, SLOTMSG_WORKER_MAKE);
	int fds[] = { pipes->job.theirs, pipes->out.theirs, pipes->errout.theirs,
		pipes->lifeline.theirs };

	slot_limits(worker, limits, &msg);
	return slotmsg_send(watch_fd(worker->slot), &msg, fds, 4, err);
}

static void watch_pipes(struct worker *worker, struct worker_pipes *pipes)
{
	uv_loop_t *loop = zygote_loop(worker->zygote);

	worker->job = watch_new(loop, take_fd(&pipes->job.ours), UV_READABLE, on_job, worker);
	worker->out = watch_new(loop, take_fd(&pipes->out.ours), UV_READABLE, on_stdout, worker);
	worker->errout =
		watch_new(loop, take_fd(&pipes->errout.ours), UV_READABLE, on_stderr, worker);
	worker->lifeline = take_fd(&pipes->lifeline.ours);
}

static void expect_no_calls(struct worker *worker)
{
	worker->job_messages = 0;
	worker->job_messages_most = JOB_MESSAGES_MAX;
	worker->job_message_bytes = SLOTMSG_REPORT_MAX;
}

/* Resets the data about the last worker in this slot. */
static void forget_last(struct worker *worker)
{
	worker->is_made = false;
	worker->is_ready = false;
	worker->displays = false;
	worker->same_pipes = false;
	expect_no_calls(worker);
	worker->refused = false;
	worker->done_run[0] = '\0';
	worker->ended = false;
	worker->doubted = false;
	buf_init(&worker->incoming, sizeof(struct job_head) + SLOTMSG_REPORT_MAX + READ_BYTES);
	buf_init(&worker->outgoing, sizeof(struct job_head) + SLOTMSG_BODY_MAX);
	worker->outgoing_at = 0;
}

void worker_make(struct worker *worker, const struct job_limits *limits)
{
	struct worker_pipes pipes;
	struct err err = ERR_INIT;

	move(worker, WORKER_MAKING);
	close_leaves(worker);
	forget_last(worker);
	worker->sequence++;
	worker->made_with = *limits;
	job_limits_settle(&worker->made_with);
	if (knobs_set(&worker->knobs, limits) < 0) {
		worker_lose(worker, "the kernel rejected the limits of its cgroup");
		return;
	}
	if (worker_pipes_open(&pipes, &err) < 0) {
		worker_lose(worker, err.text);
		return;
	}
	if (send_make(worker, &pipes, &worker->made_with, &err) < 0) {
		worker_pipes_close(&pipes);
		worker_lose(worker, err.text);
		return;
	}
	worker_pipes_close_theirs(&pipes);
	watch_pipes(worker, &pipes);
	if (!worker->job || !worker->out || !worker->errout)
		worker_lose(worker, "the daemon has no memory to watch it");
}

/* ---- running and ending --------------------------------------------------------------------- */

void worker_take(struct worker *worker, const struct worker_events *events, void *owner)
{
	move(worker, WORKER_TAKEN);
	worker->events = events;
	worker->owner = owner;
}

int worker_send_job(
	struct worker *worker, char *body, size_t len, const int *fds, unsigned fd_count)
{
	assert(fd_count <= WORKER_JOB_FDS_MAX);

	for (unsigned i = 0; i < fd_count; i++)
		worker->outgoing_fds[i] = fds[i];
	worker->outgoing_fd_count = fd_count;
	if (!worker->job) {
		free(body);
		close_outgoing_fds(worker);
		return -1;
	}
	move(worker, WORKER_RUNNING);
	buf_done(&worker->outgoing);
	buf_init(&worker->outgoing, len + sizeof(struct job_head)); /* for worker_send_go() */
	worker->outgoing.bytes = body;
	worker->outgoing.len = len;
	worker->outgoing.size = len;
	worker->outgoing_at = 0;
	send_rest(worker);
	return 0;
}

/* ---- cells of a session --------------------------------------------------------------------- */

/* The pipes are empty: what a cell wrote was read while it stood still. */
static void use_pipes(struct worker *worker, int events)
{
	if (worker->out)
		watch_want(worker->out, events);
	if (worker->errout)
		watch_want(worker->errout, events);
}

static int send_cell_of_same_pipes(struct worker *worker, char *body, size_t len)
{
	use_pipes(worker, UV_READABLE);
	if (knobs_freeze(&worker->knobs, false) < 0) {
		free(body);
		return -1;
	}
	return worker_send_job(worker, body, len, NULL, 0);
}

/* New pipes, so that what an earlier cell has kept open reaches nobody. */
static int renew_pipes(struct worker *worker, struct worker_pipes *pipes)
{
	uv_loop_t *loop = zygote_loop(worker->zygote);
	struct err err = ERR_INIT;

	if (worker_pipes_open_output(pipes, &err) < 0)
		return -1;
	worker->out = watch_new(loop, take_fd(&pipes->out.ours), UV_READABLE, on_stdout, worker);
	worker->errout =
		watch_new(loop, take_fd(&pipes->errout.ours), UV_READABLE, on_stderr, worker);
	return worker->out && worker->errout ? 0 : -1;
}

int worker_send_cell(
	struct worker *worker, char *body, size_t len, const int *fds, unsigned fd_count)
{
	struct worker_pipes pipes = { .out = { -1, -1 } };
	int all[WORKER_JOB_FDS_MAX] = { -1, -1, -1, -1 };

	assert(2 + fd_count <= WORKER_JOB_FDS_MAX);
	for (unsigned i = 0; i < fd_count; i++)
		all[2 + i] = fds[i];

	if (worker->same_pipes)
		return send_cell_of_same_pipes(worker, body, len);
	if (renew_pipes(worker, &pipes) < 0 || knobs_freeze(&worker->knobs, false) < 0) {
		worker_pipes_close_theirs(&pipes);
		close_fds(all, COUNT_OF(all));
		free(body);
		return -1;
	}
	all[0] = take_fd(&pipes.out.theirs);
	all[1] = take_fd(&pipes.errout.theirs);
	return worker_send_job(worker, body, len, all, 2 + fd_count);
}

int worker_end_cell(struct worker *worker, const struct job_limits *limits)
{
	struct slotmsg msg = message_to_slot(worker, SLOTMSG_CELL_END);
	struct err err = ERR_INIT;

	slot_limits(worker, limits, &msg);
	worker->made_with = *limits;
	if (knobs_freeze(&worker->knobs, true) < 0)
		return -1;
	return slotmsg_send(watch_fd(worker->slot), &msg, NULL, 0, &err);
}

bool worker_stands(const struct worker *worker)
{
	return knobs_are_frozen(&worker->knobs);
}

int worker_hold_still(struct worker *worker, bool stand)
{
	return knobs_freeze(&worker->knobs, stand);
}

/* ---- kept states of a session, in leaves of their own ------------------------------------------ */

void worker_add_leaf(struct worker *worker, struct knobs *knobs)
{
	struct knobs *leaf = &worker->leaves[worker->leaf_count];

	assert(worker->leaf_count < WORKER_LEAVES_MAX);

	*leaf = *knobs;
	knobs_init(knobs);
	knobs_settle(leaf);
	worker->leaf_count++;
}

bool worker_leaf_is_empty(const struct worker *worker, unsigned leaf)
{
	return knobs_pids_now(&worker->leaves[leaf]) == 0;
}

/*
 * What a session holds in leaves where it does not run.  `dying`: that of a worker that is being killed,
 * or -1.  What an earlier session has left there counts, too, since the kernel takes it back for what this
 * one wants; see reclaim.h.
 */
static uint64_t held_elsewhere(const struct worker *worker, int dying)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < worker->leaf_count; i++)
		if ((int)i != dying)
			bytes += knobs_memory_now(&worker->leaves[i]);
	return bytes;
}

uint64_t worker_memory(const struct worker *worker)
{
	return knobs_memory_now(&worker->knobs) + held_elsewhere(worker, -1);
}

uint64_t worker_take_cpu_us(struct worker *worker)
{
	const uint64_t until_us = worker->before.cpu_user_us + worker->before.cpu_sys_us;

	knobs_begin_cpu(&worker->knobs, &worker->before);
	return knobs_since(until_us, worker->before.cpu_user_us + worker->before.cpu_sys_us);
}

void worker_forget_refusals(struct worker *worker)
{
	struct knob_counts now;

	knobs_count(&worker->knobs, &now);
	worker->before.pids_refused = now.pids_refused;
}

static int limit_beside(struct worker *worker, const struct job_limits *limits, int dying)
{
	worker->knobs.held_bytes = held_elsewhere(worker, dying);
	return knobs_set(&worker->knobs, limits);
}

int worker_limit(struct worker *worker, const struct job_limits *limits)
{
	return limit_beside(worker, limits, -1);
}

static struct slotmsg message_about(
	const struct worker *worker, enum slotmsg_kind kind, uint32_t number)
{
	struct slotmsg msg = message_to_slot(worker, kind);

	msg.state = number;
	return msg;
}

int worker_send_keep(struct worker *worker, uint32_t number, unsigned leaf, int hello)
{
	const struct slotmsg msg = message_about(worker, SLOTMSG_KEEP, number);
	struct knobs *knobs = &worker->leaves[leaf];
	int fds[1 + SLOTMSG_JOIN_FDS_MAX] = { hello };
	struct err err = ERR_INIT;

	if (!knobs->stands && knobs_freeze(knobs, true) < 0)
		return -1;
	memcpy(fds + 1, knobs->join, knobs->join_count * sizeof(*fds));
	return slotmsg_send(watch_fd(worker->slot), &msg, fds, 1 + knobs->join_count, &err);
}

int worker_send_promote(
	struct worker *worker, uint32_t number, unsigned leaf, const struct job_limits *limits)
{
	struct slotmsg msg = message_about(worker, SLOTMSG_PROMOTE, number);
	struct err err = ERR_INIT;

	exchange_leaf(worker, &worker->leaves[leaf]);
	slot_limits(worker, limits, &msg);
	if (limit_beside(worker, limits, (int)leaf) < 0)
		return -1;
	knobs_begin(&worker->knobs, &worker->before);
	if (knobs_freeze(&worker->knobs, false) < 0)
		return -1;
	return slotmsg_send(watch_fd(worker->slot), &msg, NULL, 0, &err);
}

int worker_send_drop(struct worker *worker, uint32_t number)
{
	const struct slotmsg msg = message_about(worker, SLOTMSG_STATE_DROP, number);
	struct err err = ERR_INIT;

	return slotmsg_send(watch_fd(worker->slot), &msg, NULL, 0, &err);
}

void worker_kill_leaf(struct worker *worker, unsigned leaf)
{
	knobs_kill(&worker->leaves[leaf]);
}

/* ---- the worker between two cells -------------------------------------------------------------- */

int worker_send_word(struct worker *worker, enum job_kind kind, const int *fds, unsigned fd_count)
{
	const struct job_head head = { .magic = SLOTMSG_MAGIC, .kind = kind };

	for (unsigned i = 0; i < fd_count; i++)
		worker->outgoing_fds[i] = fds[i];
	worker->outgoing_fd_count = fd_count;
	if (!worker->job || buf_append(&worker->outgoing, &head, sizeof(head)) < 0) {
		close_outgoing_fds(worker);
		return -1;
	}
	send_rest(worker);
	return 0;
}

int worker_replace_job(struct worker *worker, int job)
{
	watch_close(worker->job);
	worker->jobs++;
	buf_done(&worker->incoming);
	buf_done(&worker->outgoing);
	buf_init(&worker->incoming, sizeof(struct job_head) + SLOTMSG_REPORT_MAX + 4096);
	buf_init(&worker->outgoing, sizeof(struct job_head) + SLOTMSG_BODY_MAX);
	worker->outgoing_at = 0;
	worker->job_messages = 0;
	worker->ended = false;
	worker->job = watch_new(zygote_loop(worker->zygote), job, UV_READABLE, on_job, worker);
	return worker->job ? 0 : -1;
}

/* What a thread of the program has written since JOB_DONE means nothing. */
static void drop_messages(struct worker *worker)
{
	char bytes[4096];

	while (worker->job && read(watch_fd(worker->job), bytes, sizeof(bytes)) > 0)
		;
	buf_consume(&worker->incoming, worker->incoming.len);
}

void worker_keep(struct worker *worker, const struct worker_events *events, void *owner)
{
	move(worker, WORKER_KEPT);
	if (worker->same_pipes)
		use_pipes(worker, 0);
	else
		close_output(worker);
	drop_messages(worker);
	if (worker->ended) { /* a kept state may take its place */
		watch_close(worker->job);
		worker->job = NULL;
	}
	expect_no_calls(worker);
	worker->displays = false;
	worker->refused = false;
	worker->events = events;
	worker->owner = owner;
	knobs_begin(&worker->knobs, &worker->before);
}

int worker_send_go(struct worker *worker)
{
	const struct job_head go = { .magic = SLOTMSG_MAGIC, .kind = JOB_GO };

	if (!worker->job || buf_append(&worker->outgoing, &go, sizeof(go)) < 0)
		return -1;
	send_rest(worker);
	return 0;
}

void worker_expect_calls(struct worker *worker, unsigned calls, size_t bytes)
{
	worker->job_messages_most += calls;
	if (bytes > worker->job_message_bytes)
		worker->job_message_bytes = bytes;
	worker->incoming.ceiling = sizeof(struct job_head) + worker->job_message_bytes + READ_BYTES;
}

size_t worker_unsent(const struct worker *worker)
{
	return worker->outgoing.len - worker->outgoing_at;
}

void worker_send(
	struct worker *worker, enum job_kind kind, int32_t number, const char *body, size_t len)
{
	const struct job_head head = {
		.magic = SLOTMSG_MAGIC, .kind = kind, .len = (uint32_t)len, .exit_code = number
	};
	bool waits = worker->outgoing.len > 0;

	if (!worker->job)
		return;
	buf_consume(&worker->outgoing, worker->outgoing_at);
	worker->outgoing_at = 0;
	worker->outgoing.ceiling = OUTGOING_MAX;
	if (buf_reserve(&worker->outgoing, sizeof(head) + len) < 0)
		return; /* the call ends with the run */
	(void)buf_append(&worker->outgoing, &head, sizeof(head));
	(void)buf_append(&worker->outgoing, body, len);
	if (!waits)
		send_rest(worker);
}

int worker_adjust(
	struct worker *worker, const struct job_limits *limits, const char *modules, int files_fd)
{
	struct slotmsg msg = message_to_slot(worker, SLOTMSG_ADJUST);
	struct err err = ERR_INIT;

	slot_limits(worker, limits, &msg);
	cut_printf(msg.text, sizeof(msg.text), "%s", modules ? modules : "");
	return slotmsg_send(watch_fd(worker->slot), &msg, &files_fd, files_fd >= 0, &err);
}

int worker_open_network(struct worker *worker, int orders_fd, int egress_fd)
{
	const struct slotmsg msg = message_to_slot(worker, SLOTMSG_NETWORK);
	const int fds[] = { orders_fd, egress_fd };
	struct err err = ERR_INIT;

	return slotmsg_send(watch_fd(worker->slot), &msg, fds, 2, &err);
}

void worker_kill(struct worker *worker)
{
	if (worker->lifeline >= 0)
		close(take_fd(&worker->lifeline));
}

void worker_kill_run(struct worker *worker)
{
	if (worker->kept && knobs_hold(&worker->knobs, KNOB_KILL))
		knobs_kill(&worker->knobs);
	else
		worker_kill(worker);
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

int worker_collect(struct worker *worker, const struct worker_collection *collection)
{
	struct slotmsg msg = message_to_slot(worker, SLOTMSG_COLLECT);
	struct err err = ERR_INIT;
	int fds[] = { collection->pipe_fd, collection->globs_fd };

	msg.artifact_bytes = collection->bytes;
	msg.artifact_count = collection->count;
	msg.flags = collection->stands ? SLOTMSG_FLAG_STANDS : 0;
	return slotmsg_send(watch_fd(worker->slot), &msg, fds, 2, &err);
}

void worker_let_go(struct worker *worker, const char *why)
{
	void *owner = worker->owner;

	if (worker->state == WORKER_GONE)
		return;
	worker_kill_harder(worker);
	move(worker, WORKER_GONE);
	worker->owner = NULL;
	watch_close(worker->slot); /* the slot leaves when its socket closes */
	worker->slot = NULL;
	if (owner)
		worker->events->gone(owner, why);
	close_pipes(worker);
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
	struct slotmsg msg = message_to_slot(worker, SLOTMSG_WORKER_DROP);
	struct err err = ERR_INIT;

	worker->owner = NULL;
	if (worker->state == WORKER_GONE)
		return;
	if (worker->state != WORKER_ENDING)
		move(worker, WORKER_ENDING);
	worker_kill(worker);
	close_pipes(worker);
	if (slotmsg_send(watch_fd(worker->slot), &msg, NULL, 0, &err) < 0)
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
	close_leaves(worker);
	free(worker);
}
