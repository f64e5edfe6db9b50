/* Waits for a turn: fair between callers, bounded, and never for ever. */
#include "daemon/pipeline.h"
#include "daemon/server.h"
#include "daemon/stages.h"
#include "daemon/workers/worker.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/rpc.h"

/* Out of the queue without a worker: by its client, by the clock, or because the house closes. */
void stage_queue_give_up(struct request *request, enum outcome outcome)
{
	queue_leave(&request->server->queue, &request->queue);
	timer_close(request->patience);
	request->patience = NULL;
	if (outcome == OUTCOME_CANCELED)
		(void)request_give_up(request);
	else
		(void)request_not_run(
			request, outcome, "No worker got free in time; nothing has run.");
	request->result.metrics.queue_us = clock_us() - request->entered_us;
	request_step(request, "queue.left", "queue", false, request->result.reason);
	request_enter(request, STAGE_RECORD);
}

static void on_patience(void *owner)
{
	stage_queue_give_up(owner, OUTCOME_SANDBOX_ERROR);
}

static void get_turn(struct request *request, struct worker *worker)
{
	timer_close(request->patience);
	request->patience = NULL;
	request->result.metrics.queue_us = clock_us() - request->entered_us;
	request->execution.worker = worker;
	request_step(request, "worker.taken", "queue", true, NULL);
}

void stage_queue_serve(struct server *server, struct runtime *runtime)
{
	while (!list_is_empty(&runtime->warm)) {
		struct queue_entry *entry = queue_next(&server->queue, runtime);
		struct request *request;

		if (!entry)
			return;
		request = container_of(entry, struct request, queue);
		get_turn(request, pool_take(runtime));
		request_enter(request, STAGE_WORKER);
	}
}

static enum stage busy(struct request *request, const char *what)
{
	request_fail(request, RPC_CODE_BUSY, "%s", what);
	request->failure.retry_after_ms = 100 + 10 * (int64_t)request->server->queue.count;
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, what);
}

static enum stage cannot_run(struct request *request, const char *trouble)
{
	const char *why = arena_printf(&request->arena, "The runtime does not start: %s", trouble);

	queue_leave(&request->server->queue, &request->queue);
	request_step(request, "queue.left", "queue", false, why);
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, why);
}

/* A worker is warm: it goes to whose turn it is.  True when that is this request. */
static bool has_turn(struct request *request)
{
	struct server *server = request->server;
	struct queue_entry *next = queue_next(&server->queue, request->runtime);
	struct request *other;

	if (!next)
		return false;
	other = container_of(next, struct request, queue);
	if (other == request)
		request->result.metrics.warm = true;
	get_turn(other, pool_take(request->runtime));
	if (other != request)
		request_enter(other, STAGE_WORKER);
	return other == request;
}

enum stage stage_queue(struct request *request)
{
	struct server *server = request->server;
	enum queue_answer answer = queue_enter(&server->queue, &request->queue, request->caller.uid,
		request->spec.agent, request->runtime);

	if (answer == QUEUE_FULL)
		return busy(request, "the queue is full");
	if (answer == QUEUE_USER_FULL)
		return busy(request, "too many of this caller's runs are waiting already");
	if (answer == QUEUE_NO_MEMORY)
		return busy(request, "there is no memory for another run");
	if (!list_is_empty(&request->runtime->warm)) {
		if (has_turn(request))
			return STAGE_WORKER;
	} else if (request->runtime->trouble[0]) {
		return cannot_run(request, request->runtime->trouble);
	} else {
		request->runtime->cold++;
		(void)pool_take(request->runtime); /* tells the pool that it is short */
	}
	request->patience =
		timer_new(&server->loop, server->config.queue_ms, 0, on_patience, request);
	request_step(request, "queue.waiting", "queue", true, NULL);
	return STAGE_WAIT;
}
