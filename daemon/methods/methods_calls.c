/* call.reply: the client that offered a tool answers a call of it. */
#include "daemon/methods/methods.h"
#include "daemon/request/request.h"
#include "daemon/request/run_calls.h"
#include "daemon/services.h"

/* What a message of some 64 KiB holds, with the buffer that it came in and its values. */
#define SMALL_HELD ((size_t)192 << 10)

/* Whether it has a result or an error, and not both.  A nil beside an error is no result. */
static bool is_answer(struct call *call)
{
	const struct value *result = value_get(call->params, "result");
	const struct value *error = value_get(call->params, "error");
	const struct job_refusal neither = { "/result", "missing",
		"/result: is required, or an error" };
	const struct job_refusal both = { "/error", "conflict",
		"/error: result and error exclude each other" };

	if (!result && !error)
		call_refuse(call, &neither);
	else if (error && result && !value_is(result, VALUE_NIL))
		call_refuse(call, &both);
	else
		return true;
	return false;
}

static void on_answer_read(void *owner, const struct job_refusal *why)
{
	struct call *call = owner;
	struct job_refusal refusal;

	if (!why) {
		call_result(call, value_map(&call->arena));
		return;
	}
	refusal = (struct job_refusal){ arena_strdup(&call->arena, why->pointer), why->reason,
		arena_printf(&call->arena, "%s: %s", why->pointer, why->message) };
	call_refuse(call, &refusal);
}

static void give_answer(struct call *call, struct request *request)
{
	const struct value *error = value_get(call->params, "error");
	const struct call_answer answer = {
		.number = value_as_int(value_get(call->params, "call"), 0),
		.result = value_get(call->params, "result"),
		.error = error,
		.bytes = call->held > SMALL_HELD ? call->held : 0,
		.done = on_answer_read,
		.owner = call,
	};
	long long number = (long long)answer.number;

	switch (run_calls_reply(request->calls, &answer)) {
	case CALL_REPLY_TAKEN:
		return;
	case CALL_REPLY_NO_CALL:
		call_error(call, RPC_CODE_NOT_FOUND, "the run has no call %lld", number);
		return;
	case CALL_REPLY_EARLY:
		call_error(call, RPC_CODE_CONFLICT, "call %lld was not sent to a client", number);
		return;
	case CALL_REPLY_LATE:
		call_error(call, RPC_CODE_CONFLICT, "call %lld has an answer, or is over", number);
		return;
	}
}

void method_call_reply(struct call *call)
{
	const char *run_id = value_as_text(value_get(call->params, "run_id"));
	struct request *request = registry_find(call->services->runs, run_id);

	if (!request || request->caller.uid != call->caller.uid)
		call_error(call, RPC_CODE_NOT_FOUND, "run %s is not in progress", run_id);
	else if (request->conn != call->conn)
		call_error(call, RPC_CODE_FORBIDDEN,
			"only the connection that offered the tools may answer");
	else if (!request->calls)
		call_error(call, RPC_CODE_NOT_FOUND, "run %s offers no tools", run_id);
	else if (is_answer(call))
		give_answer(call, request);
}
