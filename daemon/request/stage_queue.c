/*
 * QUEUE: waits for a worker.  Callers get fair turns; the length of the queue and the time are
 * bounded.
 */
#include <string.h>

#include "daemon/request/cell.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/worker.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/wire/rpc.h"

/* On a slow host a run waits for the next zygote, which is given more time. */
static bool does_not_start(const struct runtime *runtime)
{
	return runtime->trouble[0] && !runtime->is_slow;
}

static const char *why_not_started(struct request *request)
{
	return arena_printf(
		&request->arena, "The runtime does not start: %s", request->runtime->trouble);
}

/*
 * Leaves the queue without a worker: the run was cancelled, its time is up, or another run took its
 * place.
 */
static void leave_queue(struct request *request, enum outcome outcome, const char *why)
{
	queue_leave(&request->queue);
	cell_leave(request);
	timer_close(request->queue_timer);
	request->queue_timer = NULL;
	if (outcome == OUTCOME_CANCELED)
		(void)request_give_up(request);
	else
		(void)request_not_run(request, outcome, why);
	request->result.metrics.queue_us = clock_us() - request->entered_us;
	request_step(request, "queue.left", "queue", false, request->result.reason);
	request_enter(request, STAGE_RECORD);
}

static void on_queue_timer(void *owner)
{
	struct request *request = owner;

	if (does_not_start(request->runtime))
		leave_queue(request, OUTCOME_SANDBOX_ERROR, why_not_started(request));
	else
		leave_queue(request, OUTCOME_BUSY, "No worker was free in time; nothing ran.");
}

static unsigned warm_workers(const struct runtime *runtime)
{
	unsigned count = 0;

	list_for_each(at, &runtime->warm)
		count++;
	return count;
}

static struct request *next_request(struct services *services, struct runtime *runtime)
{
	struct queue_entry *entry =
		queue_next(services->queue, &runtime->shares, warm_workers(runtime));

	return entry ? container_of(entry, struct request, queue) : NULL;
}

static void take_worker(struct request *request, struct worker *worker)
{
	timer_close(request->queue_timer);
	request->queue_timer = NULL;
	request->result.metrics.queue_us = clock_us() - request->entered_us;
	request->execution.worker = worker;
	request_step(request, "worker.taken", "queue", true, NULL);
}

void stage_queue_serve(struct services *services, struct runtime *runtime)
{
	while (!list_is_empty(&runtime->warm)) {
		struct request *request = next_request(services, runtime);

		if (!request)
			return;
		take_worker(request, pool_take(runtime));
		request_enter(request, STAGE_WORKER);
	}
}

static void ask_back_later(struct request *request, const char *what)
{
	request_fail(request, RPC_CODE_BUSY, "%s", what);
	request->failure.retry_after_ms = 100 + 10 * queue_count(request->services->queue);
}

static enum stage refuse_busy_queue(struct request *request, const char *what)
{
	ask_back_later(request, what);
	return request_not_run(request, OUTCOME_BUSY, what);
}

static enum stage cannot_run(struct request *request)
{
	const char *why = why_not_started(request);

	queue_leave(&request->queue);
	request_step(request, "queue.left", "queue", false, why);
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, why);
}

/*
 * Gives ready workers to the next requests in turn, until this one has one.  Returns whether it has.
 */
static bool give_workers(struct request *request)
{
	struct runtime *runtime = request->runtime;
	struct request *next;

	while (!list_is_empty(&runtime->warm) &&
		(next = next_request(request->services, runtime))) {
		take_worker(next, pool_take(runtime));
		if (next == request) {
			request->result.metrics.warm = true;
			return true;
		}
		request_enter(next, STAGE_WORKER);
	}
	return false;
}

/* ---- a worker before the verdict -------------------------------------------------------------- */

/* The compiler imports no module of this name; linecache.py would run at a warning. */
#define ENTRYPOINT_AHEAD "main.py"

/*
 * A program with files, or with another name, may replace modules that the compiler uses.  A
 * deterministic one begins with its clock, which runs, and one that displays compiles in another
 * way.  For the other cases the worker would
 * probably be wasted.
 */
static bool may_go_ahead(const struct request *request)
{
	const struct job_spec *spec = &request->spec;

	return !request->is_check && !request->session && !request->parking &&
	       !request->execution.worker && runtime_has_gate(request->runtime) &&
	       !spec->file_count && !strcmp(spec->entrypoint, ENTRYPOINT_AHEAD) &&
	       !spec->deterministic && !spec->display && spec->cache != CACHE_USE &&
	       !spec->tool_count && !spec->network;
}

/*
 * A user whose programs are all denied would otherwise have a worker made for each, and others would
 * wait for workers.
 */
#define WASTED_PAUSE_MS 100

static bool wasted_lately(const struct runtime *runtime)
{
	return runtime->wasted_ms && clock_ms() - runtime->wasted_ms < WASTED_PAUSE_MS;
}

/* Two: after this request there is still a worker at once for the next one. */
static struct worker *spare_worker(const struct request *request)
{
	const struct runtime *runtime = request->runtime;
	struct list *first = list_first(&runtime->warm);
	struct worker *worker;

	if (!first || first->next == &runtime->warm || queue_count(request->services->queue) ||
		wasted_lately(runtime))
		return NULL;
	worker = container_of(first, struct worker, ready_link);
	return execution_is_as_made(worker, &request->spec) ? worker : NULL;
}

void stage_queue_ahead(struct request *request)
{
	struct runtime *runtime = request->runtime;
	struct queue_entry *displaced = NULL;

	if (!may_go_ahead(request) || !spare_worker(request))
		return;
	request->queue.is_admin = caller_is(&request->caller, ROLE_ADMIN);
	if (queue_enter(request->services->queue, &request->queue, request->caller.uid,
		    request->spec.agent, &runtime->shares, &displaced) != QUEUE_ENTERED)
		return;
	if (next_request(request->services, runtime) != request) {
		queue_leave(&request->queue);
		return;
	}
	request_step(request, "worker.compiles", "policy", true, NULL);
	stage_worker_prepare(request);
	execution_start_gated(&request->execution, pool_take_ahead(runtime));
}

void stage_queue_drop_ahead(struct request *request)
{
	struct services *services = request->services;

	request_step(request, "worker.dropped", "policy", true, "nothing ran in it");
	execution_done(&request->execution);
	memset(&request->execution, 0, sizeof(request->execution));
	queue_leave(&request->queue);
	request->runtime->wasted_ms = clock_ms();
	stage_queue_serve_all(services); /* its caller may run one more */
}

static enum stage use_ahead(struct request *request)
{
	request->result.metrics.warm = true;
	request->runtime->runs++;
	request_step(request, "worker.taken", "queue", true, NULL);
	return STAGE_WORKER;
}

/* ---- the queue ------------------------------------------------------------------------------ */

/* Returns NULL when the request is in the queue, else why not. */
static const char *enter_queue(struct request *request)
{
	static const char *const refusals[] = {
		[QUEUE_ENTERED] = NULL,
		[QUEUE_FULL] = "the queue is full",
		[QUEUE_USER_FULL] = "too many runs of this caller are in the queue",
		[QUEUE_NO_MEMORY] = "no memory for another run",
	};
	struct queue_entry *displaced = NULL;
	struct request *other;
	enum queue_answer answer;

	request->queue.is_admin = caller_is(&request->caller, ROLE_ADMIN);
	answer = queue_enter(request->services->queue, &request->queue, request->caller.uid,
		request->spec.agent, &request->runtime->shares, &displaced);
	if (displaced) {
		other = container_of(displaced, struct request, queue);
		ask_back_later(other, "the queue is full, and other callers have fewer runs in it");
		leave_queue(other, OUTCOME_BUSY,
			"The queue was full, and another caller had fewer runs in it; nothing ran.");
	}
	return refusals[answer];
}

void stage_queue_cancel(struct request *request)
{
	if (request_waits_in(request, STAGE_QUEUE))
		leave_queue(request, OUTCOME_CANCELED, NULL);
}

void stage_queue_leave(struct request *request)
{
	timer_close(request->queue_timer);
	queue_leave(&request->queue);
	cell_leave(request);
}

void stage_queue_serve_all(struct services *services)
{
	for (unsigned i = 0; i < services->pool->all_count; i++)
		stage_queue_serve(services, &services->pool->runtimes[i]);
}

/* A request whose session keeps it waiting may have its time limit already. */
static bool set_queue_timer(struct request *request)
{
	const struct services *services = request->services;

	if (!request->queue_timer)
		request->queue_timer = timer_new(
			services->loop, services->config->queue_ms, 0, on_queue_timer, request);
	return request->queue_timer != NULL;
}

static enum stage wait_for_worker(struct request *request)
{
	struct runtime *runtime = request->runtime;
	const char *refusal = enter_queue(request);

	if (refusal)
		return refuse_busy_queue(request, refusal);
	if (list_is_empty(&runtime->warm)) {
		if (does_not_start(runtime))
			return cannot_run(request);
		runtime->cold++;
	} else if (give_workers(request)) {
		return STAGE_WORKER;
	}
	pool_grow(runtime, queue_is_newcomer(&request->queue));
	if (!set_queue_timer(request)) {
		queue_leave(&request->queue);
		return refuse_busy_queue(request, "no memory for another run");
	}
	request_step(request, "queue.waiting", "queue", true, NULL);
	return STAGE_WAIT;
}

/* ---- cells of a session --------------------------------------------------------------------- */

static enum stage wait_for_turn(struct request *request)
{
	if (!set_queue_timer(request)) {
		cell_leave(request);
		return refuse_busy_queue(request, "no memory for another run");
	}
	request_step(request, "session.waiting", "queue", true, NULL);
	return STAGE_WAIT;
}

/* After request_fail(). */
static enum stage refuse_cell(struct request *request, const char *pointer, const char *reason)
{
	request->failure.pointer = pointer;
	request->failure.reason = reason;
	return request_not_run(request, OUTCOME_REFUSED, request->failure.message);
}

static enum stage session_is_gone(struct request *request)
{
	request_fail(request, RPC_CODE_NOT_FOUND, "%s",
		"/session: the session has ended: open another one");
	return refuse_cell(request, "/session", "ended");
}

static enum stage state_is_not_kept(struct request *request)
{
	request_fail(request, RPC_CODE_CONFLICT,
		"/from: state %llu is not kept%s: session.list shows those that are",
		(unsigned long long)request->spec.from, states_reason(&request->session->states));
	return refuse_cell(request, "/from", "state");
}

static enum stage cannot_be_undone(struct request *request)
{
	request_fail(request, RPC_CODE_CONFLICT, "%s",
		"/atomic: where the session stands is not kept, so the cell could not be undone");
	return refuse_cell(request, "/atomic", "state");
}

static enum stage follow_turn(struct request *request, enum cell_turn turn)
{
	switch (turn) {
	case CELL_FIRST:
		return wait_for_worker(request);
	case CELL_NEXT:
		take_worker(request, request->execution.worker);
		return STAGE_WORKER;
	case CELL_WAITS:
		return wait_for_turn(request);
	case CELL_CROWDED:
		return refuse_busy_queue(request, "too many cells of this session wait");
	case CELL_NOT_KEPT:
		return state_is_not_kept(request);
	case CELL_NOT_ATOMIC:
		return cannot_be_undone(request);
	case CELL_ENDED:
		break;
	}
	return session_is_gone(request);
}

void stage_queue_on_turn(struct session_turn *turn)
{
	struct request *request = container_of(turn, struct request, turn);
	enum stage next = follow_turn(request, cell_resume(request));

	if (next == STAGE_WAIT)
		return;
	timer_close(request->queue_timer);
	request->queue_timer = NULL;
	request_enter(request, next);
}

enum stage stage_queue(struct request *request)
{
	if (request->session)
		return follow_turn(request, cell_enter(request));
	if (execution_can_open(&request->execution))
		return use_ahead(request);
	if (request->execution.gated)
		stage_queue_drop_ahead(request);
	return wait_for_worker(request);
}
