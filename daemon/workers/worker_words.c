#include <errno.h>
#include <string.h>

#include "daemon/workers/worker_parts.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

#define WORDS_MAX 16 /* from one worker in its life; an honest one sends four */

#define COMPLAINT_MAX       400 /* bytes of the message of an interpreter that cannot start */
#define COMPLAINTS_A_MINUTE 6

static void job_broken(struct worker *worker)
{
	watch_close(worker->job);
	worker->job = NULL;
	if (worker->owner)
		worker->events->job_broken(worker->owner);
	else if (worker->state == WORKER_WARM)
		worker_release(worker); /* no run can use it; else the slot reports its death */
}

static void on_job_message(struct worker *worker, const struct job_head *head, const char *body)
{
	if (head->kind == JOB_READY && worker->state == WORKER_MAKING) {
		worker->told_ready = true;
		worker_become_warm(worker);
	} else if (worker->owner) {
		worker->events->job_message(worker->owner, head, body);
	}
}

/*
 * Passes on every whole message.  -1: the bytes are no message, or the worker has sent too many.
 * Without that limit a program could send heads as long as it runs, and each costs it a twentieth
 * of the time that it costs the daemon.
 *
 * The rest moves to the front once, and not after each message, so that a flood of heads does not
 * block the loop.
 */
static int cut_messages(struct worker *worker)
{
	size_t at = 0;

	while (worker->job && worker->incoming.len - at >= sizeof(struct job_head)) {
		struct job_head head;

		memcpy(&head, worker->incoming.bytes + at, sizeof(head));
		if (head.magic != SLOTMSG_MAGIC || head.kind <= JOB_START ||
			head.kind >= JOB_KIND_COUNT || head.len > SLOTMSG_REPORT_MAX)
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

void worker_send_rest(struct worker *worker)
{
	size_t left = worker->outgoing.len - worker->outgoing_at;
	struct err err = ERR_INIT;
	ssize_t sent;

	if (!left)
		return;
	sent = send_with_fds(watch_fd(worker->job), worker->outgoing.bytes + worker->outgoing_at,
		left, &worker->outgoing_fd, worker->outgoing_fd >= 0 ? 1 : 0, &err);
	if (sent < 0 && err.code != ERR_BUSY) {
		buf_done(&worker->outgoing); /* its end is reported separately */
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

/* Reads once and passes on whole messages.  False: nothing to read, now or ever. */
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

void worker_on_job(void *owner, int events)
{
	struct worker *worker = owner;

	if (events & UV_WRITABLE)
		worker_send_rest(worker);
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
 * No program runs here yet, so this output is from no program.  worker_become_warm() notices a
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

void worker_on_stdout(void *owner, int events)
{
	struct worker *worker = owner;

	(void)events;
	on_output(worker, &worker->out, false);
}

void worker_on_stderr(void *owner, int events)
{
	struct worker *worker = owner;

	(void)events;
	on_output(worker, &worker->errout, true);
}
