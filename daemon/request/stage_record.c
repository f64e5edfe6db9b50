/*
 * RECORD: writes the run to the disk before its result is reported.  The begun record is written
 * while the program runs, or before it begins if the run has an id; the complete one at the end.
 */
#include "daemon/door/conn.h"
#include "daemon/record/store_failure.h"
#include "daemon/redact/masked_record.h"
#include "daemon/request/approvals.h"
#include "daemon/request/masking.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/request/run_calls.h"
#include "daemon/request/run_display.h"
#include "daemon/request/run_events.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/json.h"
#include "proto/wire/rpc.h"

#define REFUSED_BYTES_MAX 4096
#define REFUSED_HELD_MAX  ((size_t)128 << 10) /* of a message and everything made from it */

/* Uses the masked request; the original is never recorded. */
void stage_record_describe(struct request *request, struct store_run *run)
{
	const struct job_spec *spec = &request->masked.spec;

	run->run_id = request->result.run_id;
	run->method = request->is_check ? "check" : "run";
	run->received_wall_us = request->received_wall_us;
	run->uid = request->caller.uid;
	run->gid = request->caller.gid;
	run->pid = request->caller.pid;
	run->caller_exe = request->caller.exe[0] ? request->caller.exe : NULL;
	run->caller_name = request->caller.name[0] ? request->caller.name : NULL;
	if (!request_is_read(request))
		return;
	run->action = request->claim.leads ? request->claim.content : NULL;
	run->code_hash = request->result.code_hash;
	run->input_hash = request->result.input_hash;
	run->caller_id = spec->id;
	run->language = spec->language;
	run->policy = request->policy ? policy_name(request->policy) : spec->policy;
	if (request->result.has_verdict) {
		run->policy_digest = request->result.verdict.digest;
		run->policy_decision = policy_decision_word(request->result.verdict.decision);
	}
	run->task = spec->task;
	run->agent = spec->agent;
	run->entrypoint = spec->entrypoint;
	run->session = spec->session;
	run->cell = request->cell;
	run->spec = spec;
}

/* Records the params of a rejected request for later analysis. */
static void describe_refused(struct request *request, struct store_run *run)
{
	struct buf text;

	buf_init(&text, REFUSED_BYTES_MAX);
	json_write_start(&text, request->masked.params, JSON_WRITE_BASE64);
	run->refused_params.data = arena_copy(&request->arena, text.bytes, text.len);
	run->refused_params.len = run->refused_params.data ? text.len : 0;
	buf_done(&text);
}

static void answer_detached(struct request *request)
{
	struct arena arena;
	struct value *result;

	if (!request->conn || (request->sent & SENT_ANSWER))
		return;
	arena_init(&arena, 4096);
	result = value_map(&arena);
	value_map_put(&arena, result, "run_id", value_text(&arena, request->result.run_id));
	conn_send_result(request->conn, request->msgid, result);
	arena_done(&arena);
	request->sent |= SENT_ANSWER;
}

static void on_begun_recorded(struct recording *recording, const struct err *err)
{
	struct request *request = container_of(recording, struct request, begun);

	request->begun_pending--;
	if (err || recording->durability != STORE_NOW) {
		/* the record of the end will fail too, and report it */
		stage_begin_recorded(request, err);
		return;
	}
	request->known = recording->run.action ? KNOWN_BY_ID : KNOWN;
	if (request->calls)
		run_calls_known(request->calls);
	if (request->conn && request->early_output.len)
		conn_send_buf(request->conn, &request->early_output);
	if (request->execution.on_display)
		run_display_look(request);
	if (request->spec.detach)
		answer_detached(request);
	event_run_started(request);
	stage_begin_recorded(request, NULL);
}

void stage_record_begun(struct request *request, bool durable)
{
	request->begun.kind = RECORDING_BEGUN;
	request->begun.durability = durable ? STORE_NOW : STORE_SOON;
	request->begun.run.is_begun = request->begun.done != NULL; /* again, to add its action */
	request->begun.done = on_begun_recorded;
	stage_record_describe(request, &request->begun.run);
	request->begun.run.is_reported = durable;
	request->begun_pending++;
	recorder_put(request->services->recorder, &request->begun);
}

/* Says what ran, for the error.  NULL: nothing did, so the caller may send the request again. */
static const char *describe_ran(const struct job_result *result)
{
	if (result->ran == RAN_NO || result->cached_from[0])
		return NULL;
	return result->ran == RAN_YES ? "the program ran" : "the program may have run";
}

/* RPC_CODE_BUSY means that nothing ran, so it is not used for a run that did. */
static void fail_unrecorded(struct request *request, const struct err *err)
{
	const char *ran = describe_ran(&request->result);

	request->failure.set = false; /* this error is worse than an earlier one */
	request_fail(request, ran ? RPC_CODE_INTERNAL : (int)store_failure_code(err),
		"%s, and the run could not be recorded, so its result is withheld: %s",
		ran ? ran : "nothing ran", err->text);
	request->failure.reason = store_trouble(err);
	request->failure.retry_after_ms = ran ? 0 : store_failure_retry_ms(err);
}

static void on_ended_recorded(struct recording *recording, const struct err *err)
{
	struct request *request = container_of(recording, struct request, ended);

	request->result.metrics.record_us = clock_us() - request->entered_us;
	if (err)
		fail_unrecorded(request, err);
	request->known = err ? UNKNOWN : KNOWN;
	request_enter(request, STAGE_REPLY);
}

/*
 * No budget counts what rejected requests store, so they could fill the disk.  Of large ones only
 * the hashes and the caller are recorded.
 */
static bool is_kept_small(const struct request *request)
{
	enum outcome outcome = request->result.outcome;

	if (outcome != OUTCOME_BUDGET_EXCEEDED && outcome != OUTCOME_REFUSED)
		return false;
	return masked_spec_cost(&request->masked.spec) > REFUSED_BYTES_MAX ||
	       request->held_bytes > REFUSED_HELD_MAX;
}

static void describe_ended(struct request *request)
{
	request->ended.kind = RECORDING_ENDED;
	request->ended.durability = STORE_NOW;
	request->ended.done = on_ended_recorded;
	stage_record_describe(request, &request->ended.run);
	if (!request_is_read(request) && !request->parking)
		describe_refused(request, &request->ended.run);
	if (request_is_read(request) && is_kept_small(request))
		request->ended.run.spec = NULL;
	request->ended.run.ended_wall_us = clock_wall_us();
	/* A masked result is not cached: it would be returned with its masks. */
	request->ended.run.cache_key =
		request->masked.result.masks ? NULL : stage_cache_key(request);
	request->ended.run.cache_entries = request->services->config->cache_entries;
	request->ended.run.stored_bytes = request->budget.stored_bytes;
	request->ended.run.is_uncounted = !request->budget.counted;
	request->ended.run.result = &request->masked.result;
	request->ended.run.was_parked = request->parking != NULL;
	request->ended.run.calls = request->calls ? run_calls_recorded(request->calls) : 0;
}

static enum stage put_record(struct request *request)
{
	struct services *services = request->services;

	if (request->calls)
		request->masked.result.masks += run_calls_masks(request->calls);
	request->result.masks = request->masked.result.masks;
	describe_ended(request);
	recorder_put(services->recorder, &request->ended);
	/* Other runs need the worker's slot; if there are none, the reply goes first. */
	if (registry_count(services->runs) > 1)
		execution_release(&request->execution);
	return STAGE_WAIT;
}

enum stage stage_record(struct request *request)
{
	if (approval_begins_later(request))
		return STAGE_EXIT;
	request->result.metrics.total_us =
		clock_us() - request->received_us - approval_waited_us(request);
	stage_budget_settle(request);
	return masking_of_record(request, put_record);
}
