#include "daemon/request/request.h"

#include <stdarg.h>
#include <stdlib.h>

#include "daemon/door/conn.h"
#include "daemon/redact/pattern_book.h"
#include "daemon/services.h"
#include "proto/base/clock.h"
#include "proto/ulid.h"
#include "proto/wire/rpc.h"

#define EARLY_BYTES_MAX ((size_t)64 << 20)

static struct request *request_alloc(struct services *services, const struct caller *caller)
{
	struct request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	list_init(&request->link);
	buf_init(&request->early_output, EARLY_BYTES_MAX);
	request->services = services;
	request->caller = *caller;
	request->result.steps = request->steps;
	return request;
}

struct request *request_new(struct services *services, struct conn *conn,
	const struct rpc_message *message, bool is_check, char *bytes, struct arena *arena)
{
	struct request *request = request_alloc(services, conn_caller(conn));
	struct err err = ERR_INIT;

	if (!request || ulid_next(services->ids, request->result.run_id, &err) < 0) {
		free(request);
		free(bytes);
		arena_done(arena);
		return NULL;
	}
	request->conn = conn;
	request->msgid = message->msgid;
	request->is_check = is_check;
	request->bytes = bytes;
	request->arena = *arena;
	request->params = message->params;
	request->received_us = clock_us();
	request->received_wall_us = clock_wall_us();
	conn_adopt(conn, &request->link);
	return request;
}

struct request *request_new_restored(struct services *services, const struct caller *caller,
	const char *run_id, size_t arena_bytes)
{
	struct request *request = request_alloc(services, caller);

	if (!request)
		return NULL;
	arena_init(&request->arena, arena_bytes);
	cut_printf(request->result.run_id, sizeof(request->result.run_id), "%s", run_id);
	request->stage = STAGE_APPROVAL;
	request->entered = 1U << STAGE_APPROVAL;
	request->known = KNOWN;
	return request;
}

static void add_step(struct request *request, const struct job_step *step)
{
	if (request_is_read(request) && request->spec.trace == TRACE_OFF)
		return;
	if (request->result.step_count == REQUEST_STEPS_MAX)
		return;
	request->steps[request->result.step_count++] = *step;
}

void request_step(
	struct request *request, const char *step, const char *phase, bool ok, const char *note)
{
	const struct job_step now = { step, phase, clock_us() - request->received_us, ok, note };

	add_step(request, &now);
}

void request_step_at(struct request *request, int64_t at_us, const struct job_step *step)
{
	struct job_step then = *step;

	then.t_us = at_us - request->received_us;
	add_step(request, &then);
}

void request_fail(struct request *request, int code, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	if (request->failure.set)
		return;
	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	request->failure.set = true;
	request->failure.code = code;
	request->failure.message = arena_strdup(&request->arena, text);
}

enum stage request_not_run(struct request *request, enum outcome outcome, const char *reason)
{
	request->result.outcome = outcome;
	request->result.ran = RAN_NO;
	request->result.reason = reason;
	return STAGE_RECORD;
}

enum stage request_give_up(struct request *request)
{
	return request_not_run(request, OUTCOME_CANCELED,
		arena_printf(&request->arena, "The run was cancelled before it began, %s.",
			canceled_words(request->canceled)));
}

/* A run that was approved is read again, and may meet other policies than those it was parked under. */
void request_take_policies(struct request *request)
{
	if (request->policies && !request->parked_under)
		request->parked_under = request->policies;
	else if (request->policies)
		policies_release(request->policies, request->may_ask);
	request->policies = request->services->policies;
	policies_hold(request->policies);
	request->may_ask = true;
}

void request_is_judged(struct request *request)
{
	if (request->may_ask)
		policies_asked_enough(request->policies);
	request->may_ask = false;
}

void request_release_policies(struct request *request)
{
	request_is_judged(request);
	if (request->policies)
		policies_release(request->policies, false);
	if (request->parked_under)
		policies_release(request->parked_under, false);
	request->policies = request->parked_under = NULL;
}

const struct pattern_book *request_patterns(struct request *request)
{
	if (!request->patterns)
		request->patterns = pattern_book_hold(request->services->patterns);
	return request->patterns;
}

struct wish request_wish(struct request *request)
{
	return (struct wish){ request->services, &request->caller, request->runtime, &request->spec,
		&request->arena };
}
