#include "daemon/request/pipeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/conn.h"
#include "daemon/loop/discard.h"
#include "daemon/redact/pattern_book.h"
#include "daemon/request/registry.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"

#define TO(stage) (1U << (unsigned)STAGE_##stage)

/* A worker that compiles ahead of the verdict is kept in these, and given up in all others. */
#define AHEAD (TO(POLICY) | TO(CACHE) | TO(BEGIN) | TO(QUEUE) | TO(WORKER))

/*
 * The table of stages.  Beside its name and its function, a stage has:
 *
 *	next    the stages that may follow
 *	cancel  ends the waiting of a request in this stage.  NULL: the stage does not wait, or its
 *	        waiting is bounded and it checks request->canceled afterwards
 *	leave   releases what the stage has taken, when the request ends
 *	go_on   called after the request has ended: resumes requests that may have waited for that
 */
/* clang-format off */
static const struct {
	const char *name;
	enum stage (*run)(struct request *request);
	unsigned next;
	void (*cancel)(struct request *request);
	void (*leave)(struct request *request);
	void (*go_on)(struct services *services);
} stages[] = {
	[STAGE_CONTRACT] = { "contract", stage_contract, TO(REPEAT) | TO(RECORD) | TO(REPLY),
			NULL, stage_contract_leave, NULL },
	[STAGE_REPEAT]   = { "repeat",   stage_repeat,   TO(BUDGET) | TO(RECORD),
			stage_repeat_cancel, NULL, NULL },
	[STAGE_BUDGET]   = { "budget",   stage_budget,   TO(POLICY) | TO(RECORD),
			NULL, stage_budget_settle, NULL },
	[STAGE_POLICY]   = { "policy",   stage_policy,   TO(APPROVAL) | TO(CACHE) | TO(RECORD) | TO(REPLY),
			stage_policy_cancel, NULL, NULL },
	[STAGE_APPROVAL] = { "approval", stage_approval, TO(CONTRACT) | TO(CACHE) | TO(RECORD) | TO(EXIT),
			stage_approval_cancel, stage_approval_leave, NULL },
	[STAGE_CACHE]    = { "cache",    stage_cache,    TO(BEGIN)  | TO(OUTPUT) | TO(RECORD),
			NULL, NULL, NULL },
	[STAGE_BEGIN]    = { "begin",    stage_begin,    TO(QUEUE)  | TO(RECORD) | TO(REPLY),
			NULL, NULL, NULL },
	[STAGE_QUEUE]    = { "queue",    stage_queue,    TO(WORKER) | TO(RECORD),
			stage_queue_cancel, stage_queue_leave, stage_queue_serve_all },
	[STAGE_WORKER]   = { "worker",   stage_worker,   TO(OUTPUT),
			stage_worker_cancel, stage_worker_leave, NULL },
	[STAGE_OUTPUT]   = { "output",   stage_output,   TO(RECORD),
			NULL, NULL, NULL },
	[STAGE_RECORD]   = { "record",   stage_record,   TO(REPLY) | TO(EXIT),
			NULL, NULL, NULL },
	[STAGE_REPLY]    = { "reply",    stage_reply,    TO(EXIT), NULL, NULL, NULL },
	[STAGE_EXIT]     = { "exit",     NULL,           0, NULL, NULL, NULL },
};
/* clang-format on */

const char *stage_word(enum stage stage)
{
	return stages[stage].name;
}

bool stage_leads_to(enum stage from, enum stage to)
{
	return (stages[from].next & (1U << (unsigned)to)) != 0;
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* A new request begins with CONTRACT. */
static bool may_enter(const struct request *request, enum stage next)
{
	return request->entered ? stage_leads_to(request->stage, next) : next == STAGE_CONTRACT;
}

/* Before these stages are over, a request may ask for verdicts. */
#define UNJUDGED (TO(CONTRACT) | TO(REPEAT) | TO(BUDGET) | TO(POLICY))

static void drop_ahead_unless_kept(struct request *request)
{
	if (request->execution.gated && !((1U << (unsigned)request->stage) & AHEAD))
		stage_queue_drop_ahead(request);
}

void request_enter(struct request *request, enum stage next)
{
	assert(!request->walking);
	request->walking = true;
	while (next != STAGE_WAIT) {
		assert(may_enter(request, next));
		request->stage = next;
		request->entered |= 1U << (unsigned)next;
		drop_ahead_unless_kept(request);
		if (!((1U << (unsigned)next) & UNJUDGED))
			request_is_judged(request);
		if (next == STAGE_EXIT) {
			request_free(request);
			return;
		}
		request->entered_us = clock_us();
		next = stages[next].run(request);
	}
	request->walking = false;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Releases what the entered stages have taken, the last stage first. */
static void leave_stages(struct request *request)
{
	for (unsigned stage = STAGE_EXIT; stage-- > 0;)
		if ((request->entered & (1U << stage)) && stages[stage].leave)
			stages[stage].leave(request);
}

/* Resumes requests that waited for the end of one with these stages. */
static void go_on(struct services *services, unsigned entered)
{
	for (unsigned stage = 0; stage < STAGE_EXIT; stage++)
		if ((entered & (1U << stage)) && stages[stage].go_on)
			stages[stage].go_on(services);
}

void request_free(struct request *request)
{
	struct services *services = request->services;
	unsigned entered = request->entered;

	assert(!request->claim.claim);

	list_remove(&request->link);
	if (request->conn)
		conn_release(request->conn);
	leave_stages(request);
	registry_remove(services->runs, request);
	ceilings_let_go(services->ceilings, request->caller.uid, request->held_bytes);
	request_release_policies(request);
	pattern_book_release(request->patterns);
	discard(services->state->closing ? NULL : services->loop, &request->arena, request->bytes);
	free(request);
	go_on(services, entered);
}

/* ---- cancelling ----------------------------------------------------------------------------- */

void request_cancel(struct request *request, enum kill_reason why)
{
	if (request_is_canceled(request) || (why == KILLED_CLOSING && request_is_parked(request)))
		return;
	if (why == KILLED_LEFT && claims_has_waiting(&request->claim)) {
		request->claim.deserted = true;
		return;
	}
	request->canceled = why;
	if (stages[request->stage].cancel)
		stages[request->stage].cancel(request);
}

void request_left(struct request *request)
{
	if (!(request_is_read(request) && request->spec.detach && (request->sent & SENT_ANSWER)))
		request_cancel(request, KILLED_LEFT);
}

struct run_name {
	char id[RUN_ID_LEN];
};

static int collect_name(void *context, struct request *request)
{
	struct run_name **at = context;

	memcpy((*at)++->id, request->result.run_id, RUN_ID_LEN);
	return 0;
}

/* Collects the ids first: cancelling a run changes the registry and may end other runs. */
int64_t request_cancel_all(const struct run_registry *runs, enum kill_reason why)
{
	size_t count = registry_count(runs);
	struct run_name *all = calloc(count + 1, sizeof(*all));
	struct run_name *at = all;

	if (!all)
		return -1;
	(void)registry_each(runs, collect_name, &at);
	for (size_t i = 0; i < count; i++) {
		struct request *request = map_get(&runs->runs, all[i].id, RUN_ID_LEN);

		if (request)
			request_cancel(request, why);
	}
	free(all);
	return (int64_t)count;
}
