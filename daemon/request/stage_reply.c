/* REPLY: reports the end to the run's own connection and to the clients that wait for it. */
#include "daemon/door/conn.h"
#include "daemon/door/notification.h"
#include "daemon/news/alerts.h"
#include "daemon/news/metrics.h"
#include "daemon/request/registry.h"
#include "daemon/request/replay.h"
#include "daemon/request/run_display.h"
#include "daemon/request/run_events.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "proto/base/container.h"
#include "proto/wire/rpc.h"

static const char *check_decision(const struct request *request)
{
	if (request->failure.set)
		return "refuse";
	if (request->result.verdict.decision == POLICY_DENY)
		return "deny";
	return request->result.verdict.decision == POLICY_ASK ? "ask" : "run";
}

static struct value *refusal_to_value(struct arena *arena, const struct job_refusal *refusal)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "pointer", value_text(arena, refusal->pointer));
	value_map_put(arena, map, "reason", value_text(arena, refusal->reason));
	value_map_put(arena, map, "message", value_text(arena, refusal->message));
	return map;
}

/* Adds the first fault of the request, and the list of all of them. */
static void put_contract(struct request *request, struct value *map)
{
	const struct request_failure *failure = &request->failure;
	const struct job_refusal first = { failure->pointer, failure->reason, failure->message };
	const struct job_refusals *all = request->refusals;
	struct arena *arena = &request->arena;
	struct value *list = value_list(arena);

	value_map_put(arena, map, "contract", refusal_to_value(arena, &first));
	for (size_t i = 0; all && i < all->count; i++)
		value_list_add(arena, list, refusal_to_value(arena, &all->items[i]));
	if (!all || !all->count)
		value_list_add(arena, list, refusal_to_value(arena, &first));
	value_map_put(arena, map, "contract_errors", list);
	if (all && all->more)
		value_map_put(arena, map, "contract_errors_more", value_bool(arena, true));
}

/* Makes the answer to `check`: what a run would do. */
static struct value *check_to_value(struct request *request)
{
	struct arena *arena = &request->arena;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "would", value_text(arena, check_decision(request)));
	if (request->failure.set)
		put_contract(request, map);
	if (request_is_read(request))
		value_map_put(
			arena, map, "code_hash", value_text(arena, request->result.code_hash));
	if (request->result.has_verdict)
		value_map_put(arena, map, "policy",
			policy_verdict_to_value(arena, &request->result.verdict));
	return map;
}

static struct rpc_error failure_to_error(struct request *request)
{
	struct arena *arena = &request->arena;
	const struct request_failure *failure = &request->failure;
	struct value *data = value_map(arena);
	struct rpc_error error = {
		.code = (enum rpc_code)failure->code, .message = failure->message, .data = data
	};

	if (failure->pointer)
		value_map_put(arena, data, "pointer", value_text(arena, failure->pointer));
	if (failure->reason)
		value_map_put(arena, data, "reason", value_text(arena, failure->reason));
	if (failure->retry_after_ms)
		value_map_put(
			arena, data, "retry_after_ms", value_int(arena, failure->retry_after_ms));
	if (failure->other_run_id)
		value_map_put(
			arena, data, "other_run_id", value_text(arena, failure->other_run_id));
	if (request->known)
		value_map_put(arena, data, "run_id", value_text(arena, request->result.run_id));
	return error;
}

/* Sends the output of a cached result in the form of a run's own output. */
static void send_cached_output(struct request *request)
{
	const struct {
		const char *name;
		struct bytes bytes;
	} streams[] = { { "stdout", request->result.out.head },
		{ "stderr", request->result.errout.head } };

	for (size_t i = 0; i < COUNT_OF(streams) && request->conn; i++) {
		struct buf notice;

		buf_init(&notice, streams[i].bytes.len + 4096);
		if (streams[i].bytes.len &&
			notification_write_output(&notice, request->result.run_id, streams[i].name,
				0, streams[i].bytes, NULL) == 0)
			conn_send_buf(request->conn, &notice);
		buf_done(&notice);
	}
}

/* Faults that `check` finds are its answer; failures of the daemon are errors. */
static bool ends_in_error(const struct request *request)
{
	return request->failure.set && !(request->is_check && request->failure.pointer);
}

static bool has_listener(const struct request *request)
{
	return request->conn && !(request->sent & SENT_ANSWER);
}

static void end_in_error(struct request *request)
{
	struct rpc_error error = failure_to_error(request);
	struct run_end end = {
		.run_id = request->result.run_id, .uid = request->caller.uid, .error = &error
	};

	if (has_listener(request))
		conn_send_error(request->conn, request->msgid, &error);
	registry_tell_end(request->services->runs, &end);
}

static void end_check(struct request *request)
{
	struct value *answer = check_to_value(request);

	if (has_listener(request))
		conn_send_result(request->conn, request->msgid, answer);
}

static void count_run(const struct request *request)
{
	struct metrics_run run = { .result = &request->result, .uid = request->caller.uid };

	if (request_is_read(request)) {
		run.language = request->masked.spec.language;
		run.policy = request->policy ? policy_name(request->policy)
					     : request->masked.spec.policy;
		run.agent = request->masked.spec.agent;
	}
	metrics_run_ended(request->services->metrics, &run);
}

static void end_run(struct request *request)
{
	struct run_end end = { .run_id = request->result.run_id, .uid = request->caller.uid };
	struct arena *arena = &request->arena;
	struct value *result = job_result_to_value(arena, &request->result);

	struct value *masked = request->masked.result.masks
				       ? job_result_to_value(arena, &request->masked.result)
				       : result;

	if (request->spec.stream && request->result.cached_from[0])
		send_cached_output(request);
	if (request->spec.stream)
		run_display_rest(request);
	if (has_listener(request))
		conn_send_result(request->conn, request->msgid,
			request->replayed ? replay_compare(arena, request->replayed, masked, result)
					  : result);
	end.result = result;
	end.masked = masked;
	registry_tell_end(request->services->runs, &end);
	request->services->state->outcomes[request->result.outcome]++;
	count_run(request);
}

static void raise_alerts(const struct request *request)
{
	const struct job_spec *spec = &request->masked.spec;
	struct alert_run run = { .run_id = request->result.run_id,
		.code_hash = request->result.code_hash,
		.uid = request->caller.uid,
		.outcome = request->result.outcome,
		.verdict = request->result.has_verdict ? &request->result.verdict : NULL };

	if (request->known == UNKNOWN)
		return;
	if (request_is_read(request)) {
		run.agent = spec->agent;
		run.task = spec->task;
		run.language = spec->language;
		run.policy = request->policy ? policy_name(request->policy) : spec->policy;
	}
	alerts_run_ended(request->services->alerts, &run);
}

enum stage stage_reply(struct request *request)
{
	if (!request->is_check) {
		event_run_ended(request);
		raise_alerts(request);
	}
	stage_repeat_over(request);
	if (ends_in_error(request))
		end_in_error(request);
	else if (request->is_check)
		end_check(request);
	else
		end_run(request);
	return STAGE_EXIT;
}
