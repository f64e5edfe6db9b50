/* REPEAT: an action with an id is done once, however often it is requested. */
#include <string.h>

#include "daemon/request/pipeline.h"
#include "daemon/request/record_lookup.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/container.h"
#include "proto/job/job_identity.h"
#include "proto/wire/rpc.h"

#define RETRY_MS 500 /* reported with "busy" */

static struct request *request_of(struct claim_entry *entry)
{
	return container_of(entry, struct request, claim);
}

/* ---- ends in this stage --------------------------------------------------------------------- */

/* Rejects the request because another run has its id. */
static enum stage refuse_id(struct request *request, const char *reason, const char *run_id)
{
	request->failure.pointer = "/id";
	request->failure.reason = reason;
	request->failure.other_run_id = arena_strdup(&request->arena, run_id);
	request_step(request, "contract.refused", "contract", false, request->failure.message);
	return request_not_run(request, OUTCOME_REFUSED, request->failure.message);
}

/* The id belongs to other content, requested by `run_id`. */
static enum stage refuse_conflict(struct request *request, const char *run_id)
{
	request_fail(
		request, RPC_CODE_CONFLICT, "/id: run %s has this id and other content", run_id);
	return refuse_id(request, "conflict", run_id);
}

/* The action was done, but its result was deleted. */
static enum stage refuse_pruned(struct request *request, const char *run_id)
{
	request_fail(request, RPC_CODE_NOT_FOUND,
		"/id: run %s did this already, and its result was deleted", run_id);
	return refuse_id(request, "pruned", run_id);
}

/* Nothing ran now, and it is unknown whether the action was done before. */
static enum stage fail_lookup(struct request *request, const char *why)
{
	request_fail(request, RPC_CODE_INTERNAL,
		"the daemon cannot find out whether this was done before, so it did nothing: %s",
		why);
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, request->failure.message);
}

/* The result is recorded, but the caller has no room for it now. */
static enum stage refuse_full(struct request *request)
{
	request_fail(request, RPC_CODE_BUSY, "%s",
		"this was done already, but its result is too large while this caller holds so much: "
		"read pending replies, then send it again");
	request->failure.retry_after_ms = RETRY_MS;
	return request_not_run(request, OUTCOME_SANDBOX_ERROR, request->failure.message);
}

static enum stage repeat_result(struct request *request, const struct record_lookup *lookup)
{
	record_lookup_use(request, lookup);
	request_step(request, "id.repeated", "contract", true,
		arena_strdup(&request->arena, lookup->run_id));
	return STAGE_RECORD;
}

/* Returns the next stage after the store has found the id, or could not be asked. */
static enum stage answer_of_lookup(struct request *request, const struct record_lookup *lookup)
{
	switch (lookup->answer) {
	case LOOKUP_FOUND:
		return repeat_result(request, lookup);
	case LOOKUP_OTHER:
		return refuse_conflict(request, lookup->run_id);
	case LOOKUP_PRUNED:
		return refuse_pruned(request, lookup->run_id);
	case LOOKUP_FULL:
		return refuse_full(request);
	case LOOKUP_UNENDED:
		return fail_lookup(request, "a run began, and its end was not recorded");
	case LOOKUP_NONE:
	case LOOKUP_FAILED:
		break;
	}
	return fail_lookup(request, lookup->err.text);
}

static void on_result_looked_up(struct request *request, const struct record_lookup *lookup)
{
	request_enter(request, answer_of_lookup(request, lookup));
}

/* Gives a request that waited the result of the run that it waited for. */
static void look_up_result(struct request *request, const char *run_id)
{
	if (record_lookup_start(request, LOOKUP_RUN, run_id, on_result_looked_up) < 0)
		request_enter(request, fail_lookup(request, "no thread could ask the store"));
}

/* ---- waiting requests ----------------------------------------------------------------------- */

/* Removes the next request from the list; NULL: the list is empty. */
static struct request *take_next(struct list *waiting)
{
	struct list *first = list_first(waiting);

	if (!first)
		return NULL;
	list_remove(first);
	return request_of(container_of(first, struct claim_entry, link));
}

static void refuse_others(struct list *waiting, const char *run_id)
{
	struct request *request;

	while ((request = take_next(waiting)))
		request_enter(request, refuse_conflict(request, run_id));
}

/* Requests with this content get the result; the others asked for something else. */
static void settle_all(struct list *waiting, const uint8_t *content, const char *run_id)
{
	struct request *request;

	while ((request = take_next(waiting))) {
		if (memcmp(request->claim.content, content, DIGEST_LEN) == 0)
			look_up_result(request, run_id);
		else
			request_enter(request, refuse_conflict(request, run_id));
	}
}

static enum stage claim_id(struct request *request);

/* Lets them claim the id again; one of them asks the store. */
static void claim_id_again(struct list *waiting)
{
	struct request *request;

	while ((request = take_next(waiting))) {
		enum stage next = claim_id(request);

		if (next != STAGE_WAIT)
			request_enter(request, next);
	}
}

/* ---- looking -------------------------------------------------------------------------------- */

/* The id is unused: this request has it now. */
static void lead_id(struct request *request)
{
	struct list others;

	claims_decide(&request->claim, &others);
	refuse_others(&others, request->result.run_id);
	request_enter(request, STAGE_BUDGET);
}

/* Whether the store knows the action under this id. */
static bool is_settled(enum lookup_answer answer)
{
	return answer == LOOKUP_FOUND || answer == LOOKUP_OTHER || answer == LOOKUP_PRUNED ||
	       answer == LOOKUP_FULL;
}

static void on_id_looked_up(struct request *request, const struct record_lookup *lookup)
{
	struct claims *claims = request->services->claims;
	struct list waiting;

	if (lookup->answer == LOOKUP_NONE && !request_is_canceled(request)) {
		lead_id(request);
		return;
	}
	claims_leave(claims, &request->claim, &waiting);
	if (is_settled(lookup->answer))
		settle_all(&waiting, lookup->content, lookup->run_id);
	else
		claim_id_again(&waiting);
	request_enter(request, request_is_canceled(request) && !is_settled(lookup->answer)
				       ? request_give_up(request)
				       : answer_of_lookup(request, lookup));
}

static enum stage look_up_id(struct request *request)
{
	struct list waiting;

	if (record_lookup_start(request, LOOKUP_ACTION, NULL, on_id_looked_up) == 0)
		return STAGE_WAIT;
	claims_leave(request->services->claims, &request->claim, &waiting); /* none, yet */
	return fail_lookup(request, "no thread could ask the store");
}

static enum stage wait_for_leader(struct request *request)
{
	request_step(request, "id.joined", "contract", true, NULL);
	if (request->spec.detach && !request->begun.done)
		stage_record_begun(request, true);
	return STAGE_WAIT;
}

static const char *leader_id(const struct request *request)
{
	struct claim_entry *leader =
		claims_find(request->services->claims, request->caller.uid, request->spec.id);

	return leader ? request_of(leader)->result.run_id : "";
}

static enum stage claim_id(struct request *request)
{
	switch (claims_enter(request->services->claims, request->caller.uid, request->spec.id,
		&request->claim)) {
	case CLAIM_FIRST:
		return look_up_id(request);
	case CLAIM_WAITS:
		return wait_for_leader(request);
	case CLAIM_OTHER:
		return refuse_conflict(request, leader_id(request));
	case CLAIM_NO_ROOM:
		break;
	}
	return fail_lookup(request, "no memory");
}

enum stage stage_repeat(struct request *request)
{
	const struct job_hashes hashes = { request->result.code_hash, request->result.input_hash };

	/* An approved run passes here again and has its id already, even after a restart. */
	if (!request->spec.id || request->is_check || request->claim.leads)
		return STAGE_BUDGET;
	job_action_digest(&request->spec, &hashes, request->claim.content);
	return claim_id(request);
}

/* ---- afterwards ----------------------------------------------------------------------------- */

/* Nothing ran, so the next request may do it. */
static void pass_on_id(struct request *request)
{
	struct claim_entry *next = claims_pass_on(request->services->claims, &request->claim);

	if (next)
		request_enter(request_of(next), STAGE_BUDGET);
}

void stage_repeat_over(struct request *request)
{
	struct list waiting;

	if (!request->claim.claim)
		return;
	if (!job_result_is_spent(&request->result)) {
		pass_on_id(request);
		return;
	}
	claims_leave(request->services->claims, &request->claim, &waiting);
	if (request->known)
		settle_all(&waiting, request->claim.content, request->result.run_id);
	else
		claim_id_again(&waiting);
}

void stage_repeat_waits_on(struct request *request)
{
	struct list waiting;
	struct request *other;

	claims_leave(request->services->claims, &request->claim, &waiting);
	while ((other = take_next(&waiting))) {
		request_fail(other, RPC_CODE_DRAINING,
			"the daemon is about to end; run %s, which has this id, still waits for "
			"approval",
			request->result.run_id);
		request_enter(
			other, request_not_run(other, OUTCOME_CANCELED, other->failure.message));
	}
}

void stage_repeat_cancel(struct request *request)
{
	struct claim_entry *leader = claims_leader(&request->claim);
	struct list nobody;

	if (!leader)
		return; /* it asks the store, which answers soon */
	claims_leave(request->services->claims, &request->claim, &nobody);
	request_enter(request, request_give_up(request));
	if (leader->deserted && !claims_has_waiting(leader))
		request_cancel(request_of(leader), KILLED_LEFT);
}
