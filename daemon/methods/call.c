#include "daemon/methods/call.h"

#include <stdarg.h>
#include <stdlib.h>

#include "daemon/door/caller.h"
#include "daemon/door/ceilings.h"
#include "daemon/loop/loop.h"
#include "daemon/services.h"
#include "proto/base/list.h"

void arrival_refuse(const struct arrival *arrival, const struct rpc_error *error)
{
	uint32_t uid = conn_caller(arrival->conn)->uid;

	conn_send_error(arrival->conn, arrival->message->msgid, error);
	ceilings_let_go(arrival->services->ceilings, uid, arrival->held);
	arena_done(arrival->arena);
	free(arrival->bytes);
}

struct call *call_new(const struct arrival *arrival, const struct method *method)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call) {
		struct rpc_error error = { .code = RPC_CODE_BUSY,
			.message = "no memory for this call" };

		arrival_refuse(arrival, &error);
		return NULL;
	}
	list_init(&call->link);
	call->services = arrival->services;
	call->conn = arrival->conn;
	call->msgid = arrival->message->msgid;
	call->method = method;
	call->caller = *conn_caller(arrival->conn);
	call->right = method_right(method, call->caller.roles);
	call->message = arrival->bytes;
	call->held = arrival->held;
	call->arena = *arrival->arena;
	call->params = arrival->message->params;
	conn_hold(arrival->conn);
	return call;
}

void call_handed_on(struct call *call)
{
	list_remove(&call->link);
	timer_close(call->timer);
	conn_release(call->conn);
	free(call);
}

void call_free(struct call *call)
{
	ceilings_let_go(call->services->ceilings, call->caller.uid, call->held);
	arena_done(&call->arena);
	free(call->message);
	call_handed_on(call);
}

/*
 * Sending can close the connection, which frees all its waiting calls.  This call leaves that list
 * first.
 */
void call_result(struct call *call, const struct value *result)
{
	list_remove(&call->link);
	conn_send_result(call->conn, call->msgid, result);
	call_free(call);
}

void call_error(struct call *call, enum rpc_code code, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	struct rpc_error error = { .code = code, .message = text };
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	list_remove(&call->link);
	conn_send_error(call->conn, call->msgid, &error);
	call_free(call);
}

void call_busy(struct call *call, int64_t retry_after_ms, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	struct value *data = value_map(&call->arena);
	struct rpc_error error = { .code = RPC_CODE_BUSY, .message = text, .data = data };
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	value_map_put(
		&call->arena, data, "retry_after_ms", value_int(&call->arena, retry_after_ms));
	conn_send_error(call->conn, call->msgid, &error);
	call_free(call);
}

void call_refuse(struct call *call, const struct job_refusal *refusal)
{
	struct value *data = value_map(&call->arena);
	struct rpc_error error = {
		.code = RPC_CODE_BAD_REQUEST, .message = refusal->message, .data = data
	};

	value_map_put(&call->arena, data, "pointer", value_text(&call->arena, refusal->pointer));
	value_map_put(&call->arena, data, "reason", value_text(&call->arena, refusal->reason));
	conn_send_error(call->conn, call->msgid, &error);
	call_free(call);
}
