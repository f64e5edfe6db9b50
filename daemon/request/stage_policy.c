/*
 * POLICY: checks the program and the code among its files against the policy.  The verdict is
 * allow, observe, ask or deny, with rules and places.
 */
#include <string.h>

#include "daemon/request/judged_parts.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/workers/runtime.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/job/job_network.h"
#include "proto/wire/rpc.h"

/* Returns the reason for the caller: why the program was denied, or waits for approval. */
static const char *verdict_reason(struct request *request, const struct policy_verdict *verdict)
{
	const char *word = policy_decision_word(verdict->decision);
	const char *does = verdict->decision == POLICY_ASK ? "requires approval" : "denies it";
	const struct policy_finding *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < verdict->finding_count; i++)
		if (!strcmp(verdict->findings[i].severity, word)) {
			first = first ? first : &verdict->findings[i];
			count++;
		}
	if (!first)
		return arena_printf(&request->arena, "Policy %s %s.", verdict->name, does);
	return arena_printf(&request->arena, "Policy %s %s: %s (rule %s, line %u%s).",
		verdict->name, does, first->message, first->rule, first->line,
		count > 1 ? ", and others" : "");
}

static enum stage use_verdict(struct request *request)
{
	struct job_result *result = &request->result;
	const struct policy_verdict *verdict = &result->verdict;
	/*
	 * When the daemon closes, open checks are answered with a denial.  That is not the
	 * program's fault, and does not count.
	 */
	bool unread = request_is_canceled(request) && request->services->state->closing;
	bool denied = verdict->decision == POLICY_DENY && !unread;

	result->has_verdict = true;
	result->metrics.policy_us = clock_us() - request->entered_us;
	request_step(request, "policy.verdict", "policy", !denied,
		policy_decision_word(verdict->decision));
	if (denied) {
		result->outcome = OUTCOME_POLICY_DENIED;
		result->ran = RAN_NO;
		result->reason = verdict_reason(request, verdict);
	}
	if (request->is_check)
		return STAGE_REPLY;
	if (denied)
		return STAGE_RECORD;
	if (request_is_canceled(request))
		return request_give_up(request);
	if (verdict->decision == POLICY_ASK || request->parking)
		return STAGE_APPROVAL;
	if (request->spec.detach && !request->begun.done)
		stage_record_begun(request, true); /* once recorded durably, its id may be sent */
	return STAGE_CACHE;
}

/* ---- the texts to check --------------------------------------------------------------------- */

static void add_text_finding(struct request *request, const struct policy_finding *finding,
	const char *path, struct policy_verdict *total)
{
	struct policy_finding *added = &total->findings[total->finding_count++];

	*added = *finding;
	if (!path)
		return;
	added->message = arena_printf(&request->arena, "in %s, %s", path, finding->message);
	if (!added->message)
		added->message = finding->message;
}

/*
 * Merges the verdict on one text into the result.  Findings in files count like findings in the
 * program.  `path`: NULL for the program itself.
 */
static void take_verdict(
	struct request *request, const struct policy_verdict *verdict, const char *path)
{
	struct policy_verdict *total = &request->result.verdict;
	size_t count = total->finding_count + verdict->finding_count;
	struct policy_finding *findings =
		arena_array(&request->arena, struct policy_finding, count + 1);

	if (!findings)
		total->decision = POLICY_DENY;
	else if (verdict->decision > total->decision)
		total->decision = verdict->decision;
	if (!findings)
		return;
	for (size_t i = 0; i < total->finding_count; i++)
		findings[i] = total->findings[i];
	total->findings = findings;
	for (size_t i = 0; i < verdict->finding_count; i++)
		add_text_finding(request, &verdict->findings[i], path, total);
}

/* Judges something that cannot be checked as strictly as the policy judges anything. */
static void judge_unread(
	struct request *request, const struct policy_finding *about, const char *path)
{
	enum policy_decision strictest = policy_strictest(request->policy);
	enum policy_decision decision = strictest < POLICY_OBSERVE ? POLICY_OBSERVE : strictest;
	struct policy_finding finding = *about;
	struct policy_verdict verdict = {
		.decision = decision, .findings = &finding, .finding_count = 1
	};

	finding.severity = policy_decision_word(decision);
	take_verdict(request, &verdict, path);
}

static void judge_bytecode(struct request *request, const struct job_input_file *file)
{
	static const struct policy_finding bytecode = { "policy.bytecode", NULL, 1, 1, "",
		"bytecode cannot be checked", "send the source instead" };

	judge_unread(request, &bytecode, file->path);
}

/* ---- environment ---------------------------------------------------------------------------- */

static void judge_environment(struct request *request)
{
	const struct job_spec *spec = &request->spec;
	struct policy_finding finding = { "policy.environment", NULL, 1, 1, "",
		"this variable decides which code the shell runs, or how it reads the program",
		"leave it out" };

	for (size_t i = 0; i < spec->env_count; i++) {
		finding.text = spec->env[i].key;
		if (judged_variable(request, finding.text))
			judge_unread(request, &finding, "env");
	}
}

/* ---- network -------------------------------------------------------------------------------- */

/* One finding for each host and port, so that a person who is asked sees them all. */
static void judge_network(struct request *request)
{
	const struct job_network *network = request->spec.network;
	const enum policy_decision decision = policy_of_network(request->policy);
	struct policy_finding finding = { "policy.network", policy_decision_word(decision), 1, 1,
		"", "the program asks for connections to this host", "run it without a network" };
	struct policy_verdict verdict = {
		.decision = decision, .findings = &finding, .finding_count = 1
	};

	for (size_t i = 0; network && decision != POLICY_ALLOW && i < network->pair_count; i++) {
		finding.text = arena_printf(
			&request->arena, "%s:%u", network->pairs[i].host, network->pairs[i].port);
		take_verdict(request, &verdict, NULL);
	}
}

/*
 * For a check: adds the finding that a run would get when the policy does not run this language at
 * all.  The program is still checked for its other findings.  A language unknown to the policy is
 * denied already.
 */
static void judge_execution(struct request *request)
{
	const struct policy_verdict *total = &request->result.verdict;
	struct policy_finding finding;
	struct policy_verdict verdict = {
		.decision = POLICY_DENY, .findings = &finding, .finding_count = 1
	};

	if (!request->is_check ||
		policy_executes(request->policy, runtime_language(request->runtime), &finding))
		return;
	for (size_t i = 0; i < total->finding_count; i++)
		if (!strcmp(total->findings[i].rule, "policy.language_denied_policy"))
			return;
	take_verdict(request, &verdict, NULL);
}

static const char *hash_of(struct request *request, struct bytes code)
{
	char *text = arena_alloc(&request->arena, DIGEST_TEXT_LEN + 1);

	if (text)
		digest_text_of(code.data, code.len, text);
	return text;
}

/* Merges the verdict on the current text and moves to the next text. */
static void note_verdict(struct request *request, const struct policy_verdict *verdict)
{
	size_t text = request->texts_judged++;

	if (text == 0) {
		request->result.verdict = *verdict;
		judge_environment(request);
		judge_network(request);
		judge_execution(request);
	} else {
		take_verdict(request, verdict, request->spec.files[text - 1].path);
	}
}

static enum stage refuse_busy_policy(struct request *request)
{
	request->result.outcome = OUTCOME_SANDBOX_ERROR;
	request->result.ran = RAN_NO;
	request->result.reason = "too many programs wait for a policy check";
	request_fail(request, RPC_CODE_BUSY, "%s", request->result.reason);
	request->failure.retry_after_ms = 100;
	return request->is_check ? STAGE_REPLY : STAGE_RECORD;
}

static enum stage judge_texts(struct request *request);

static void on_verdict(void *context, const struct policy_verdict *verdict)
{
	struct request *request = context;

	if (!verdict) {
		request_enter(request, refuse_busy_policy(request));
		return;
	}
	note_verdict(request, verdict);
	request_enter(request, judge_texts(request));
}

/*
 * Returns 0 when the verdict was known, 1 when it comes later, -1 when no inspector can be asked.
 */
static int ask_inspector(struct request *request, struct bytes code, const char *hash)
{
	struct policies *policies = request->policies;
	struct policy_question question = { .policy = request->policy,
		.language = runtime_language(request->runtime),
		.code = code,
		.code_hash = hash,
		.arena = &request->arena,
		.only_checks = request->is_check,
		.uid = request->caller.uid,
		.entry = request->texts_judged == 0 ? request->spec.entrypoint : NULL };
	struct policy_verdict verdict;
	struct err err = ERR_INIT;

	if (!policy_lookup(policies, &question, &verdict)) {
		if (policy_check(policies, &question, on_verdict, request, &err) < 0)
			return -1;
		if (policies_read_all(policies))
			stage_queue_ahead(request); /* in line it would keep a worker idle */
		return 1;
	}
	note_verdict(request, &verdict);
	return 0;
}

/* Like ask_inspector(); data files are not checked. */
static int ask_about_file(struct request *request, const struct job_input_file *file)
{
	enum file_kind kind = judged_file_kind(request, file);

	if (kind == FILE_OF_CODE)
		return ask_inspector(request, file->data, hash_of(request, file->data));
	if (kind == FILE_OF_BYTECODE)
		judge_bytecode(request, file);
	request->texts_judged++;
	return 0;
}

/* Checks the remaining texts until the last one, or until one is denied. */
static enum stage judge_texts(struct request *request)
{
	const struct job_spec *spec = &request->spec;
	int asked = 0;

	if (request->texts_judged == 0)
		asked = ask_inspector(request, spec->code, request->result.code_hash);
	while (asked == 0 && request->texts_judged <= spec->file_count &&
		!request_is_canceled(request) && request->result.verdict.decision != POLICY_DENY)
		asked = ask_about_file(request, &spec->files[request->texts_judged - 1]);
	if (asked == 0)
		return use_verdict(request);
	return asked > 0 ? STAGE_WAIT : refuse_busy_policy(request);
}

enum stage stage_policy(struct request *request)
{
	return judge_texts(request);
}

/*
 * An inspector answers soon once it has begun, so only a question that still waits is withdrawn.  A
 * check continues as long as its client is connected.
 */
void stage_policy_cancel(struct request *request)
{
	if (!request_waits_in(request, STAGE_POLICY) || (request->is_check && request->conn) ||
		!policy_withdraw(request->policies, request))
		return;
	request_enter(request, request->is_check ? STAGE_REPLY : request_give_up(request));
}
