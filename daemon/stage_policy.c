/* The program against its policy -> allow, observe, or deny with rules and places. */
#include "daemon/pipeline.h"
#include "daemon/server.h"
#include "daemon/stages.h"
#include "proto/base/clock.h"
#include "proto/rpc.h"

/* What to tell an agent that was refused. */
static const char *reason_of(struct request *request, const struct policy_verdict *verdict)
{
	const struct policy_finding *first = NULL;
	size_t denials = 0;

	for (size_t i = 0; i < verdict->finding_count; i++)
		if (verdict->findings[i].severity && verdict->findings[i].severity[0] == 'd') {
			first = first ? first : &verdict->findings[i];
			denials++;
		}
	if (!first)
		return "The policy refuses this program.";
	return arena_printf(&request->arena, "Policy %s refuses it: %s (rule %s, line %u%s).",
		verdict->name, first->message, first->rule, first->line,
		denials > 1 ? ", and there is more" : "");
}

static enum stage judge(struct request *request, const struct policy_verdict *verdict)
{
	struct job_result *result = &request->result;
	/* When the house closes nobody looks at programs any more: that is not the program's fault. */
	bool unread = request->gone && request->server->closing;
	bool denied = verdict->decision == POLICY_DENY && !unread;

	result->verdict = *verdict;
	result->has_verdict = true;
	result->metrics.policy_us = clock_us() - request->entered_us;
	request_step(request, "policy.verdict", "policy", !denied,
		policy_decision_word(verdict->decision));
	if (denied) {
		result->outcome = OUTCOME_POLICY_DENIED;
		result->ran = RAN_NO;
		result->reason = reason_of(request, verdict);
	}
	if (request->is_check)
		return STAGE_REPLY;
	if (!denied && request->gone) {
		result->outcome = OUTCOME_CANCELED;
		result->ran = RAN_NO;
		result->reason = "The run was cancelled before it began.";
		return STAGE_RECORD;
	}
	if (!denied && request->spec.detach)
		stage_record_begun(request, true); /* known durably: its id may be told */
	return denied ? STAGE_RECORD : STAGE_QUEUE;
}

static void on_verdict(void *context, const struct policy_verdict *verdict)
{
	struct request *request = context;

	request_enter(request, judge(request, verdict));
}

enum stage stage_policy(struct request *request)
{
	struct server *server = request->server;
	struct policy_question question = { .policy = request->policy,
		.language = runtime_language(request->runtime),
		.code = request->spec.code,
		.code_hash = request->result.code_hash,
		.arena = &request->arena };
	struct policy_verdict verdict;
	struct err err = ERR_INIT;

	if (policy_lookup(server->policies, &question, &verdict))
		return judge(request, &verdict);
	if (policy_check(server->policies, &question, on_verdict, request, &err) == 0)
		return STAGE_WAIT;
	request->result.outcome = OUTCOME_SANDBOX_ERROR;
	request->result.ran = RAN_NO;
	request->result.reason = "too many programs wait to be checked";
	request_fail(request, RPC_CODE_BUSY, "%s", request->result.reason);
	request->failure.retry_after_ms = 100;
	return request->is_check ? STAGE_REPLY : STAGE_RECORD;
}
