#include <sys/socket.h>

#include "daemon/workers/worker_parts.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"
#include "proto/callname.h"

#define LATE_A_MINUTE  60
#define VISIT_MESSAGES 16 /* from one slot in one turn of the loop; then the others get theirs */

static void making_failed(struct worker *worker, const char *why)
{
	worker->misses++;
	log_event(LOG_LEVEL_WARNING, "worker.not_made", LOG_INT("slot", worker->index),
		LOG_INT("misses", worker->misses), LOG_STR("why", why));
	worker->ended = true;
	worker_release(worker);
}

void worker_become_warm(struct worker *worker)
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
	worker_move(worker, WORKER_WARM);
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
		worker_lose(worker, "it died twice");
		return;
	}
	worker->ended = true;
	if (owner)
		worker->events->ended(owner, msg);
	else if (worker->state == WORKER_MAKING)
		making_failed(worker, "it died while it was made");
	else if (worker->state == WORKER_WARM)
		worker_release(worker);
}

static void on_dropped(struct worker *worker)
{
	if (worker->state != WORKER_ENDING)
		return;
	worker_move(worker, WORKER_EMPTY);
	zygote_on_empty(worker->zygote, worker);
}

static void on_slot_message(struct worker *worker, const struct slotmsg *msg)
{
	/* A message about an earlier worker of this slot is late and has no meaning now. */
	if (msg->sequence != worker->sequence)
		return;
	switch (msg->kind) {
	case SLOTMSG_WORKER_MADE:
		worker->told_made = true;
		worker_become_warm(worker);
		return;
	case SLOTMSG_WORKER_FAILED:
		if (worker->state == WORKER_MAKING)
			making_failed(worker, msg->text);
		return;
	case SLOTMSG_ADJUSTED:
		if (worker->owner)
			worker->events->adjusted(worker->owner, msg);
		return;
	case SLOTMSG_WORKER_REFUSED:
		worker->refused = true;
		return;
	case SLOTMSG_WORKER_ENDED:
		on_ended(worker, msg);
		return;
	case SLOTMSG_COLLECTED:
		if (worker->owner)
			worker->events->collected(worker->owner);
		return;
	case SLOTMSG_DROPPED:
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

void worker_on_slot(void *owner, int events)
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
			worker_lose(worker, got < 0 ? err.text : "it has gone");
	}
}
