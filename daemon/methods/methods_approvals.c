/* Decisions of approvers: approve or deny a run that waits, and revoke a grant. */
#include <stdlib.h>
#include <string.h>

#include "daemon/gate/grants.h"
#include "daemon/methods/admin_ops.h"
#include "daemon/methods/methods.h"
#include "daemon/record/recorder.h"
#include "daemon/redact/redactor.h"
#include "daemon/request/approvals.h"
#include "daemon/request/call_approval.h"
#include "daemon/request/judged_parts.h"
#include "daemon/request/registry.h"
#include "daemon/request/request.h"
#include "daemon/request/run_events.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"

/* One decision, until its record is on disk. */
struct deciding {
	struct recording recording;
	struct call *call;
	struct request *request; /* NULL: a grant is revoked */
	enum parking_decision word;
	struct store_decision decision;
	struct store_grant grant;
	char subject[HASH_TEXT_LEN + 1];
	int64_t act;
};

static const char *text_of(const struct call *call, const char *key)
{
	return value_as_text(value_get(call->params, key));
}

static const char *word_of(enum parking_decision word)
{
	return word == PARKING_APPROVED ? "approved" : "denied";
}

/* ---- too late to decide -------------------------------------------------------------------- */

/* Reports to an approver why this run can no longer be decided. */
static void refuse_undecidable(struct call *call, const struct request *request)
{
	const struct parking *parking = request->parking;
	const struct call_approval *asked = call_approval_find(request, 0);

	if (asked) {
		call_error(call, RPC_CODE_CONFLICT,
			"run %s does not wait for approval, but its call %u of the tool %s does: "
			"name the call too (cectl: --call %u)",
			request->result.run_id, asked->number, asked->tool, asked->number);
	} else if (!parking || request->stage != STAGE_APPROVAL) {
		call_error(call, RPC_CODE_CONFLICT, "run %s does not wait for approval%s",
			request->result.run_id,
			parking && parking->decision == PARKING_APPROVED
				? ": it was approved and continues"
				: "");
	} else if (parking->state == PARKING_RECORDING) {
		call_error(call, RPC_CODE_CONFLICT,
			"the daemon is still recording that run %s waits: try again",
			request->result.run_id);
	} else if (parking->decision == PARKING_APPROVED || parking->decision == PARKING_DENIED) {
		call_error(call, RPC_CODE_CONFLICT, "uid %u has already %s run %s", parking->by,
			word_of(parking->decision), request->result.run_id);
	} else {
		call_error(call, RPC_CODE_CONFLICT,
			"run %s no longer waits for approval: it was cancelled or not decided in time",
			request->result.run_id);
	}
}

/* The same for a run that has ended, from its record. */
static void refuse_ended(struct call *call, const struct value *record)
{
	const char *outcome = value_as_text(value_get(record, "outcome"));
	const struct value *approval = value_get(record, "approval");
	const char *decision = value_as_text(value_get(approval, "decision"));

	call_error(call, RPC_CODE_CONFLICT, "run %s does not wait for approval: %s%s%s%s",
		call->run_id, outcome ? "it ended as " : "it is not in progress",
		outcome ? outcome : "", decision ? ", after it was " : "",
		decision ? decision : "");
}

/* ---- a decision ----------------------------------------------------------------------------- */

static void decision_fail(struct deciding *deciding, enum rpc_code code, const char *why)
{
	struct request *request = deciding->request;

	call_error(deciding->call, code, "%s", why);
	free(deciding);
	if (request)
		approval_wait_on(request);
}

static struct value *answer_of(const struct deciding *deciding)
{
	struct arena *arena = &deciding->call->arena;
	const struct request *request = deciding->request;
	struct fill map = fill_start(arena);

	fill_text(&map, "run_id", request->result.run_id);
	fill_text(&map, "decision", word_of(deciding->word));
	fill_int(&map, "uid", request->caller.uid);
	fill_text(&map, "code_hash", request->result.code_hash);
	if (deciding->decision.grant) {
		fill_text(&map, "subject", deciding->subject);
		fill_text(&map, "language", deciding->grant.language);
		fill_text(&map, "policy", deciding->grant.policy);
		fill_int(&map, "until_us", deciding->grant.until_wall_us);
		if (deciding->grant.uses >= 0)
			fill_int(&map, "uses", deciding->grant.uses);
	}
	return fill_done(&map);
}

/* The decision is on disk: it takes effect. */
static void on_decided(struct recording *recording, const struct err *err)
{
	struct deciding *deciding = container_of(recording, struct deciding, recording);
	struct request *request = deciding->request;
	struct call *call = deciding->call;
	struct value *answer;

	if (err) {
		decision_fail(deciding, RPC_CODE_INTERNAL,
			arena_printf(&call->arena,
				"not decided: the decision cannot be recorded: %s", err->text));
		return;
	}
	deciding->grant.act = deciding->act;
	if (deciding->decision.grant)
		(void)grants_add(&call->services->approvals->grants, &deciding->grant);
	request->parking->act = deciding->act;
	answer = answer_of(deciding);
	value_map_put(&call->arena, answer, "act", value_int(&call->arena, deciding->act));
	if (deciding->word == PARKING_APPROVED)
		event_run_approved(request);
	call_result(call, answer);
	free(deciding);
	approval_go_on(request);
}

static void decision_record(struct deciding *deciding)
{
	struct call *call = deciding->call;
	struct request *request = deciding->request;
	struct parking *parking = request->parking;

	parking->by = call->caller.uid;
	parking->decided_wall_us = clock_wall_us();
	parking->reason = text_of(call, "reason")
				  ? arena_strdup(&request->arena, text_of(call, "reason"))
				  : NULL;
	deciding->recording.kind = RECORDING_ACT;
	deciding->recording.durability = STORE_NOW;
	deciding->recording.done = on_decided;
	deciding->decision.run_id = request->result.run_id;
	deciding->decision.word = word_of(deciding->word);
	deciding->recording.act.decision = &deciding->decision;
	deciding->recording.act.ret_number = &deciding->act;
	admin_ops_act(call, answer_of(deciding), &deciding->recording.act);
	recorder_put(call->services->recorder, &deciding->recording);
}

/* ---- a grant: an approval that also covers later runs -------------------------------------- */

static bool wants_grant(const struct call *call)
{
	const char *what = text_of(call, "for");

	return what && !strcmp(what, "code") &&
	       value_as_int(value_get(call->params, "count"), 2) > 1;
}

/* Returns NULL, or why this run can get no grant. */
static const char *fill_grant(struct deciding *deciding)
{
	const struct call *call = deciding->call;
	const struct request *request = deciding->request;
	const struct config *config = call->services->config;
	int64_t ttl_ms = value_as_int(value_get(call->params, "ttl_ms"), (int64_t)config->grant_ms);

	if (!request->runtime)
		return "its runtime is no longer configured, so it can be approved only once";
	if (request->parking->packages_unknown)
		return "its package sets are not known yet, so it can be approved only once";
	if (approval_subject(request, deciding->subject) < 0)
		return "no memory for the approval";
	deciding->grant = (struct store_grant){
		.uid = request->caller.uid,
		.subject = deciding->subject,
		.code_hash = request->result.code_hash,
		.language = request->spec.language,
		.policy = request->result.verdict.name,
		.until_wall_us = clock_wall_us() + ttl_ms * 1000,
		/* this run uses the first one */
		.uses = value_as_int(value_get(call->params, "count"), 0) - 1,
		.by = call->caller.uid,
	};
	deciding->decision.grant = &deciding->grant;
	return NULL;
}

/* The request's program and inputs have been read from the store, or reading failed. */
static void on_filled(struct request *request, const struct err *err, void *context)
{
	struct deciding *deciding = context;
	struct call *call = deciding->call;
	const char *why = NULL;

	if (err) {
		decision_fail(deciding, RPC_CODE_INTERNAL,
			arena_printf(&call->arena,
				"not decided: the run cannot be read from the store: %s",
				err->text));
		return;
	}
	if (deciding->word == PARKING_APPROVED && request->parking->tampered) {
		decision_fail(deciding, RPC_CODE_CONFLICT,
			"it cannot be approved: its record was changed in the store while it "
			"waited (see `cectl audit verify`); it can be denied");
		return;
	}
	if (deciding->word == PARKING_APPROVED && request->parking->incomplete) {
		decision_fail(deciding, RPC_CODE_CONFLICT,
			"it cannot be approved: a part of it was masked before it was stored, or "
			"it came with secrets, and the daemon has restarted since; it can be "
			"denied");
		return;
	}
	if (deciding->word == PARKING_APPROVED && wants_grant(call))
		why = fill_grant(deciding);
	if (why)
		decision_fail(deciding, RPC_CODE_INTERNAL, why);
	else
		decision_record(deciding);
}

/* ---- may this caller decide this run ------------------------------------------------------- */

const char *method_unseen(struct call *call, uint64_t masks)
{
	if (!masks || value_as_bool(value_get(call->params, "masked"), false))
		return NULL;
	return arena_printf(&call->arena,
		"not approved: %llu places of it are masked, and you cannot see what the program has "
		"there: deny it, or approve it with masked (cectl approve --masked)",
		(unsigned long long)masks);
}

/* Why this run cannot be approved now; NULL: it can. */
static const char *closed(
	const struct call *call, const struct request *request, enum rpc_code *ret_code)
{
	struct services *services = call->services;
	struct arena *arena = (struct arena *)(uintptr_t)&call->arena;

	*ret_code = RPC_CODE_DRAINING;
	if (services->state->draining)
		return "the daemon is about to stop: approve the run after its restart";
	if (wants_grant(call) && !grants_have_room(&services->approvals->grants)) {
		*ret_code = RPC_CODE_BUSY;
		return "there is no room for another approval of a program: revoke one";
	}
	return admin_ops_refusal(services->admin_ops, request->caller.uid, arena, ret_code);
}

static bool may_decide(struct call *call, const struct request *request, enum parking_decision word)
{
	enum rpc_code code = RPC_CODE_FORBIDDEN;
	const char *why = NULL;

	if (call->caller.uid == request->caller.uid) {
		call_error(call, RPC_CODE_FORBIDDEN,
			"you cannot approve or deny your own run %s: another user decides",
			request->result.run_id);
		return false;
	}
	if (!request->parking || request->stage != STAGE_APPROVAL ||
		request->parking->state != PARKING_WAITS) {
		refuse_undecidable(call, request);
		return false;
	}
	if (word == PARKING_APPROVED)
		why = closed(call, request, &code);
	if (why) {
		call_error(call, code, "not approved: %s", why);
		return false;
	}
	if (word == PARKING_APPROVED)
		why = method_unseen(call, judged_masks(request));
	if (why)
		call_error(call, RPC_CODE_CONFLICT, "%s", why);
	return !why;
}

static void decide(struct call *call, struct request *request)
{
	enum parking_decision word =
		call->method->id == METHOD_APPROVALS_APPROVE ? PARKING_APPROVED : PARKING_DENIED;
	struct deciding *deciding;

	if (value_get(call->params, "call")) {
		method_decide_call(call, request);
		return;
	}
	if (!may_decide(call, request, word))
		return;
	deciding = calloc(1, sizeof(*deciding));
	if (!deciding) {
		call_error(call, RPC_CODE_INTERNAL, "no memory to record the decision");
		return;
	}
	deciding->call = call;
	deciding->request = request;
	deciding->word = word;
	approval_decide(request, word, call->caller.uid);
	approval_fill(request, on_filled, deciding);
}

void method_decide(struct call *call)
{
	struct request *request;

	/* People may paste secrets into the reason. */
	call->params = redact_by_patterns(call->services->patterns, &call->arena, call->params);
	request = method_find_run(call);
	if (request)
		decide(call, request);
	else
		method_from_store(call);
}

void method_decide_found(struct call *call, struct value *record)
{
	struct request *request = registry_find(call->services->runs, call->run_id);

	if (request)
		decide(call, request);
	else
		refuse_ended(call, record);
}

/* ---- revoking a grant ---------------------------------------------------------------------- */

static void on_revoked(struct recording *recording, const struct err *err)
{
	struct deciding *deciding = container_of(recording, struct deciding, recording);
	struct call *call = deciding->call;

	if (err) {
		decision_fail(deciding, RPC_CODE_INTERNAL,
			arena_printf(&call->arena,
				"the approval is revoked, but the daemon could not record it: %s",
				err->text));
		return;
	}
	free(deciding);
	call_result(call, value_map(&call->arena));
}

/* Revokes first and records then, as admin_ops.c does. */
void method_revoke(struct call *call)
{
	struct grants *grants = &call->services->approvals->grants;
	int64_t act = value_as_int(value_get(call->params, "grant"), 0);
	struct deciding *deciding;

	call->params = redact_by_patterns(call->services->patterns, &call->arena, call->params);
	if (!grants_get(grants, act)) {
		call_error(call, RPC_CODE_NOT_FOUND, "there is no approval %lld in force",
			(long long)act);
		return;
	}
	deciding = calloc(1, sizeof(*deciding));
	if (!deciding) {
		call_error(call, RPC_CODE_INTERNAL, "not revoked: no memory to record it");
		return;
	}
	grants_remove(grants, act);
	deciding->call = call;
	deciding->recording.kind = RECORDING_ACT;
	deciding->recording.durability = STORE_NOW;
	deciding->recording.done = on_revoked;
	deciding->decision.revoked = act;
	deciding->recording.act.decision = &deciding->decision;
	admin_ops_act(call, value_map(&call->arena), &deciding->recording.act);
	recorder_put(call->services->recorder, &deciding->recording);
}
