/*
 * OUTPUT: collects the output and checks it against the request: streams, artifacts, JSON, schema.
 */
#include <string.h>

#include "daemon/loop/loop.h"
#include "daemon/loop/thread_work.h"
#include "daemon/request/cell.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/stages.h"
#include "daemon/runs/artifacts.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/job/job_display.h"
#include "proto/json.h"
#include "proto/schema/schema.h"
#include "proto/wire/wire.h"

#define BYTES_AT_ONCE     ((size_t)64 << 10) /* of streams and artifacts: about 0.3 ms */
#define WORK_AT_ONCE      20000U             /* of the schema: about 1 ms */
#define OUTPUT_ERRORS_MAX (SCHEMA_ERRORS_MAX + 1)

/* The value is nested in a reply and a result; together they must stay within the wire's depth. */
static const struct json_bounds OUTPUT_BOUNDS = { 16U << 20, WIRE_DEPTH_MAX - 4, 1U << 18 };

static void keep_stream(struct capture *capture, struct job_stream *stream)
{
	capture_kept(capture, &stream->head.data, &stream->head.len, &stream->tail.data,
		&stream->tail.len);
	stream->before_tail = stream->tail.len ? (size_t)(stream->tail.data - capture->tail) : 0;
	stream->total = capture->total;
	stream->truncated = capture->passed || capture->failed;
}

static void add_output_error(struct request *request, const char *pointer,
	const char *schema_pointer, const char *message)
{
	struct job_result *result = &request->result;
	struct job_output_error *error = &result->output_errors[result->output_error_count++];

	error->pointer = pointer;
	error->schema_pointer = schema_pointer;
	error->message = message;
	result->outcome = OUTCOME_OUTPUT_INVALID;
}

/* Returns false when `work` does not suffice. */
static bool check_schema(struct request *request, uint64_t work)
{
	struct schema_report report = { 0 };
	struct err err = ERR_INIT;
	uint64_t left = work;

	/* This fails only without memory. */
	if (schema_check_within(&request->arena, request->spec.output_schema, request->result.value,
		    &left, &report, &err) < 0) {
		add_output_error(
			request, "", "", "the output could not be checked against its schema");
		return true;
	}
	if (!left && work < SCHEMA_WORK_MAX)
		return false;
	for (size_t i = 0; i < report.count && i < SCHEMA_ERRORS_MAX; i++)
		add_output_error(request, report.errors[i].pointer, report.errors[i].schema_pointer,
			report.errors[i].message);
	if (report.more)
		add_output_error(request, "", "", "more errors were left out");
	return true;
}

/*
 * Requires stdout to be one JSON document that satisfies the schema, if there is one.  Returns
 * false when `work` does not suffice; nothing is decided then.
 */
static bool check_json(struct request *request, uint64_t work)
{
	struct job_result *result = &request->result;
	struct value *value = NULL;
	struct err err = ERR_INIT;

	result->output_errors =
		arena_array(&request->arena, struct job_output_error, OUTPUT_ERRORS_MAX);
	if (!result->output_errors) {
		result->outcome = OUTCOME_SANDBOX_ERROR;
		result->reason = "no memory to check the output";
		return true;
	}
	if (result->out.truncated)
		add_output_error(request, "", "",
			"stdout was truncated, so it is not a whole JSON document");
	else if (json_parse(&request->arena, result->out.head.data, result->out.head.len,
			 &OUTPUT_BOUNDS, &value, &err) < 0)
		add_output_error(request, "", "",
			arena_printf(
				&request->arena, "stdout is not one JSON document: %s", err.text));
	result->value = value;
	if (value && request->spec.output_schema && !check_schema(request, work))
		return false;
	if (result->output_error_count)
		result->reason = arena_printf(&request->arena,
			"The program succeeded, but its output breaks the contract%s%s: %s",
			result->output_errors[0].pointer[0] ? " at " : "",
			result->output_errors[0].pointer, result->output_errors[0].message);
	return true;
}

/* ---- in the loop or on a thread ------------------------------------------------------------- */

/* The values of a list take more memory than its bytes. */
#define DISPLAY_VALUES_MAX ((size_t)32 << 20)

static void gather_display(struct request *request)
{
	struct execution *execution = &request->execution;
	size_t len = 0;
	char *bytes = capture_front(&execution->display, &len);

	arena_init(&execution->display_arena, DISPLAY_VALUES_MAX);
	if (bytes)
		job_display_read(&execution->display_arena, bytes, len,
			execution->display.passed || execution->display.failed, &request->result);
	else
		request->result.display_truncated =
			execution->display.passed || execution->display.failed;
}

static void gather_output(struct request *request)
{
	struct execution *execution = &request->execution;
	struct job_result *result = &request->result;
	struct err err = ERR_INIT;
	bool is_readable;

	keep_stream(&execution->out, &result->out);
	keep_stream(&execution->errout, &result->errout);
	if (request->spec.display)
		gather_display(request);
	is_readable = artifacts_read(&request->arena, &execution->artifacts.bytes, &request->spec,
			      result, &err) == 0;
	artifacts_tell_cut(&execution->artifacts, is_readable, result);
	if (!is_readable) {
		log_event(LOG_LEVEL_WARNING, "artifacts.odd", LOG_STR("why", err.text));
		request_step(request, "artifacts.odd", "output", false, NULL);
	}
}

static bool check_output(struct request *request, uint64_t work)
{
	if (request->result.outcome != OUTCOME_OK || request->spec.output != OUTPUT_JSON)
		return true;
	return check_json(request, work);
}

static enum stage output_checked(struct request *request)
{
	const bool is_valid = request->result.outcome != OUTCOME_OUTPUT_INVALID;

	if (request->session && !is_valid)
		cell_output_broke(request);
	request_step(request, "output.checked", "output", is_valid, NULL);
	return STAGE_RECORD;
}

/* Runs on a thread, which owns the request meanwhile; the loop only reads its stage. */
static void gather_and_check(void *context)
{
	struct request *request = context;

	gather_output(request);
	(void)check_output(request, SCHEMA_WORK_MAX);
}

static void check_again(void *context)
{
	(void)check_output(context, SCHEMA_WORK_MAX);
}

static void on_output_checked(void *context)
{
	struct request *request = context;

	request->services->state->examining--;
	request_enter(request, output_checked(request));
}

static enum stage hand_to_thread(struct request *request, work_fn *work)
{
	struct services *services = request->services;

	if (!services->state->closing &&
		thread_work_start(services->thread_work, request->caller.uid, work,
			on_output_checked, request) == 0) {
		services->state->examining++;
		return STAGE_WAIT;
	}
	work(request); /* no memory for the work, or the daemon is closing */
	return output_checked(request);
}

/*
 * Checks short outputs at once.  Long ones are checked on a thread, so that they do not block the
 * loop.
 */
enum stage stage_output(struct request *request)
{
	const struct execution *execution = &request->execution;
	size_t bytes = request->result.out.head.len + execution->out.head_len +
		       execution->out.tail_len + execution->errout.head_len +
		       execution->errout.tail_len + execution->display.head_len +
		       execution->artifacts.bytes.len;

	/* A cached result has been gathered already. */
	if (bytes > BYTES_AT_ONCE)
		return hand_to_thread(
			request, request->result.cached_from[0] ? check_again : gather_and_check);
	if (!request->result.cached_from[0])
		gather_output(request);
	if (!check_output(request, WORK_AT_ONCE))
		return hand_to_thread(request, check_again);
	return output_checked(request);
}
