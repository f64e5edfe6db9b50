/* Decisions of approvers about single calls of tools, and the list of calls that wait for one. */
#include <stdlib.h>
#include <string.h>

#include "daemon/methods/admin_ops.h"
#include "daemon/methods/methods.h"
#include "daemon/record/recorder.h"
#include "daemon/request/call_approval.h"
#include "daemon/request/judged_parts.h"
#include "daemon/request/registry.h"
#include "daemon/request/request.h"
#include "daemon/services.h"
#include "proto/base/container.h"
#include "proto/fill.h"

/* One decision, until its record is on disk.  The call may be over before that. */
struct deciding {
	struct recording recording;
	struct call_deciding deciding;
	struct call *call;
	struct value *answer;
	int64_t act;
};

/* ---- a decision ----------------------------------------------------------------------------- */

static void decision_failed(struct deciding *deciding, const struct err *err)
{
	if (deciding->deciding.approval)
		call_approval_wait_on(deciding->deciding.approval);
	call_error(deciding->call, RPC_CODE_INTERNAL,
		"not decided: the decision cannot be recorded: %s", err->text);
	free(deciding);
}

/* The decision is on disk: it takes effect. */
static void on_decided(struct recording *recording, const struct err *err)
{
	struct deciding *deciding = container_of(recording, struct deciding, recording);
	struct call_approval *asked = deciding->deciding.approval;
	struct call *call = deciding->call;

	if (err) {
		decision_failed(deciding, err);
		return;
	}
	if (asked) {
		call_approval_decided(
			asked, deciding->act, value_as_text(value_get(call->params, "reason")));
		value_map_put(&call->arena, deciding->answer, "act",
			value_int(&call->arena, deciding->act));
		call_result(call, deciding->answer);
	} else {
		call_error(call, RPC_CODE_CONFLICT,
			"the run ended while the decision was recorded (act %lld)",
			(long long)deciding->act);
	}
	free(deciding);
}

static struct value *answer_of(
	struct call *call, const struct call_approval *asked, enum parking_decision word)
{
	struct fill fill = fill_start(&call->arena);

	fill_text(&fill, "run_id", asked->request->result.run_id);
	fill_uint(&fill, "call", asked->number);
	fill_text(&fill, "tool", asked->tool);
	fill_text(&fill, "decision", word == PARKING_APPROVED ? "approved" : "denied");
	fill_uint(&fill, "uid", asked->request->caller.uid);
	return fill_done(&fill);
}

static void record_decision(
	struct call *call, struct call_approval *asked, enum parking_decision word)
{
	struct deciding *deciding = calloc(1, sizeof(*deciding));

	if (!deciding) {
		call_error(call, RPC_CODE_INTERNAL, "no memory to record the decision");
		return;
	}
	deciding->call = call;
	deciding->answer = answer_of(call, asked, word);
	deciding->recording.kind = RECORDING_ACT;
	deciding->recording.durability = STORE_NOW;
	deciding->recording.done = on_decided;
	deciding->recording.act.ret_number = &deciding->act;
	call_approval_decide(asked, word, call->caller.uid, &deciding->deciding);
	admin_ops_act(call, deciding->answer, &deciding->recording.act);
	recorder_put(call->services->recorder, &deciding->recording);
}

/* ---- may this caller decide this call ------------------------------------------------------- */

static void refuse_undecidable(
	struct call *call, const struct request *request, const struct call_approval *asked)
{
	const long long number = value_as_int(value_get(call->params, "call"), 0);
	const char *run_id = request->result.run_id;

	if (!asked)
		call_error(call, RPC_CODE_CONFLICT,
			"call %lld of run %s does not wait for approval", number, run_id);
	else if (asked->state == CALL_ASK_RECORDING)
		call_error(call, RPC_CODE_CONFLICT,
			"the daemon is still recording that call %lld of run %s waits: try again",
			number, run_id);
	else
		call_error(call, RPC_CODE_CONFLICT, "uid %u has already %s call %lld of run %s",
			asked->by, asked->decision == PARKING_APPROVED ? "approved" : "denied",
			number, run_id);
}

/* A person who approves calls has to look at each. */
static bool is_for_runs(struct call *call)
{
	const struct job_refusal refusal = { "/for", "conflict",
		"/for: a call is approved alone: leave out for, ttl_ms and count" };

	if (!value_get(call->params, "for"))
		return false;
	call_refuse(call, &refusal);
	return true;
}

/* The run goes on, so an administrator who stops new runs does not stop its calls. */
static bool is_blocked(struct call *call, const struct request *request)
{
	enum rpc_code code = RPC_CODE_FORBIDDEN;
	const char *why = admin_ops_refusal(
		call->services->admin_ops, request->caller.uid, &call->arena, &code);

	if (!why || code != RPC_CODE_FORBIDDEN)
		return false;
	call_error(call, code, "not approved: %s", why);
	return true;
}

void method_decide_call(struct call *call, struct request *request)
{
	const enum parking_decision word =
		call->method->id == METHOD_APPROVALS_APPROVE ? PARKING_APPROVED : PARKING_DENIED;
	struct call_approval *asked;
	const char *why;

	if (is_for_runs(call))
		return;
	if (call->caller.uid == request->caller.uid) {
		call_error(call, RPC_CODE_FORBIDDEN,
			"you cannot approve or deny a call of your own run %s: another user decides",
			request->result.run_id);
		return;
	}
	asked = call_approval_find(request, value_as_int(value_get(call->params, "call"), 0));
	if (!asked || asked->state != CALL_ASK_WAITS)
		refuse_undecidable(call, request, asked);
	else if (word == PARKING_APPROVED && (why = method_unseen(call, asked->masks)))
		call_error(call, RPC_CODE_CONFLICT, "%s", why);
	else if (word != PARKING_APPROVED || !is_blocked(call, request))
		record_decision(call, asked, word);
}

/* ---- what waits ----------------------------------------------------------------------------- */

/* How many places of what an approver has to see are masked; after a restart nothing masked can be approved. */
static void put_masked(struct call *call, struct value *waiting)
{
	for (size_t i = 0; value_at(waiting, i); i++) {
		struct value *run = value_at(waiting, i);
		const struct request *request = registry_find(
			call->services->runs, value_as_text(value_get(run, "run_id")));

		const uint64_t masks = request ? judged_masks(request) : 0;

		if (masks)
			value_map_put(&call->arena, run, "masked", value_uint(&call->arena, masks));
	}
}

void method_approvals_found(struct call *call, struct value *page)
{
	const struct call_approvals_filter filter = { call->run_id[0] ? call->run_id : NULL,
		value_as_int(value_get(call->params, "call"), 0) };

	put_masked(call, value_get(page, "waiting"));
	value_map_put(&call->arena, page, "calls",
		call_approvals_describe(call->services, &filter, &call->arena));
	call_result(call, page);
}
