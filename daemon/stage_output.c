/* What came out against what was promised: streams, artifacts, JSON, schema. */
#include <string.h>

#include "daemon/artifacts.h"
#include "daemon/server.h"
#include "daemon/stages.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/json.h"
#include "proto/schema.h"
#include "proto/wire.h"

#define OUTPUT_ERRORS_MAX (SCHEMA_ERRORS_MAX + 1)

/* Around the value stand a reply and a result, which together must not nest deeper than we write. */
static const struct json_bounds OUTPUT_BOUNDS = { 16U << 20, WIRE_DEPTH_MAX - 4, 1U << 18 };

static void keep_stream(struct capture *capture, struct job_stream *stream)
{
	capture_kept(capture, &stream->head.data, &stream->head.len, &stream->tail.data,
		&stream->tail.len);
	stream->total = capture->total;
	stream->truncated = capture->passed || capture->failed;
}

static void invalid(struct request *request, const char *pointer, const char *schema_pointer,
	const char *message)
{
	struct job_result *result = &request->result;
	struct job_output_error *error = &result->output_errors[result->output_error_count++];

	error->pointer = pointer;
	error->schema_pointer = schema_pointer;
	error->message = message;
	result->outcome = OUTCOME_OUTPUT_INVALID;
}

static void check_schema(struct request *request)
{
	struct schema_report report = { 0 };
	struct err err = ERR_INIT;

	/* Only memory can be short here. */
	if (schema_check(&request->arena, request->spec.output_schema, request->result.value,
		    &report, &err) < 0) {
		invalid(request, "", "", "the output could not be checked against its schema");
		return;
	}
	for (size_t i = 0; i < report.count && i < SCHEMA_ERRORS_MAX; i++)
		invalid(request, report.errors[i].pointer, report.errors[i].schema_pointer,
			report.errors[i].message);
	if (report.more)
		invalid(request, "", "", "and there is more that breaks the schema");
}

/* stdout must be one JSON document, and satisfy the schema when there is one. */
static void check_json(struct request *request)
{
	struct job_result *result = &request->result;
	struct value *value = NULL;
	struct err err = ERR_INIT;

	result->output_errors =
		arena_array(&request->arena, struct job_output_error, OUTPUT_ERRORS_MAX);
	if (!result->output_errors) {
		result->outcome = OUTCOME_SANDBOX_ERROR;
		result->reason = "there was no memory to check the output";
		return;
	}
	if (result->out.truncated)
		invalid(request, "", "", "stdout was cut, so it is no whole JSON document");
	else if (json_parse(&request->arena, result->out.head.data, result->out.head.len,
			 &OUTPUT_BOUNDS, &value, &err) < 0)
		invalid(request, "", "",
			arena_printf(
				&request->arena, "stdout is not one JSON document: %s", err.text));
	result->value = value;
	if (value && request->spec.output_schema)
		check_schema(request);
	if (result->output_error_count)
		result->reason = arena_printf(&request->arena,
			"The program ran well but its output breaks the contract at \"%s\": %s",
			result->output_errors[0].pointer, result->output_errors[0].message);
}

enum stage stage_output(struct request *request)
{
	struct execution *execution = &request->execution;
	struct job_result *result = &request->result;
	struct err err = ERR_INIT;

	keep_stream(&execution->out, &result->out);
	keep_stream(&execution->errout, &result->errout);
	if (artifacts_read(&request->arena, &execution->artifact_bytes, &request->spec, result,
		    &err) < 0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.odd", LOG_STR("why", err.text));
		request_step(request, "artifacts.odd", "output", false, NULL);
	}
	if (result->outcome == OUTCOME_OK && request->spec.output == OUTPUT_JSON)
		check_json(request);
	request_step(request, "output.checked", "output", result->outcome != OUTCOME_OUTPUT_INVALID,
		NULL);
	return STAGE_RECORD;
}
