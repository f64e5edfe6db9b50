#include "daemon/methods/methods.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/door/ceilings.h"
#include "daemon/methods/admin_ops.h"
#include "daemon/news/events.h"
#include "daemon/record/store_failure.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/services.h"
#include "proto/base/nearest.h"
#include "proto/names.h"

#define METHOD_START(id, name, who, params, result, start, read, finish) [METHOD_##id] = start,

static void (*const starts[METHOD_COUNT])(struct call *call) = { METHODS(METHOD_START) };

/* "admin.drain is for the role admin" */
static void name_roles(const struct method *method, char *text, size_t size)
{
	const char *between = "is for the role";
	size_t len;

	cut_printf(text, size, "%s", method->name);
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		if (method_right(method, ROLE_BIT(role)) == RIGHT_NO)
			continue;
		len = strlen(text);
		cut_printf(text + len, size - len, " %s %s", between, role_word((enum role)role));
		between = "or";
	}
}

/* None of the caller's roles has this method. */
static void refuse_right(const struct arrival *arrival, const struct method *method)
{
	unsigned roles = conn_caller(arrival->conn)->roles;
	char text[ERR_TEXT_MAX];
	struct rpc_error error = { .code = RPC_CODE_FORBIDDEN, .message = text };

	if (roles)
		name_roles(method, text, sizeof(text));
	else
		error.message = "this user has no role here; the daemon's settings `users` and "
				"`user_groups` say who has one";
	arrival_refuse(arrival, &error);
}

/* Why no run can be accepted now, or NULL. */
static const char *closed_door(const struct services *services, uint32_t uid, struct arena *arena,
	struct rpc_error *ret_error)
{
	const struct err *trouble = recorder_trouble(services->recorder);
	const char *refusal = admin_ops_refusal(services->admin_ops, uid, arena, &ret_error->code);

	if (refusal)
		return refusal;

	if (services->state->draining) {
		ret_error->code = RPC_CODE_DRAINING;
		return "the daemon takes no new runs";
	}
	if (!trouble)
		return NULL;
	ret_error->code = store_failure_code(trouble);
	ret_error->data = store_failure_data(arena, trouble);
	return trouble->text;
}

bool admission_refused(struct call *call)
{
	struct rpc_error error = { .code = RPC_CODE_BUSY };
	const char *why = closed_door(call->services, call->caller.uid, &call->arena, &error);

	if (why)
		call_error(call, error.code, "%s", why);
	return why != NULL;
}

struct request *methods_admit(const struct arrival *arrival, bool is_check)
{
	struct services *services = arrival->services;
	struct conn *conn = arrival->conn;
	uint32_t msgid = arrival->message->msgid;
	struct rpc_error error = { .code = RPC_CODE_BUSY };
	struct request *request;

	error.message = closed_door(services, conn_caller(conn)->uid, arrival->arena, &error);
	if (error.message) {
		arrival_refuse(arrival, &error);
		return NULL;
	}
	request = request_new(
		services, conn, arrival->message, is_check, arrival->bytes, arrival->arena);
	if (request)
		request->held_bytes = arrival->held;
	else
		ceilings_let_go(services->ceilings, conn_caller(conn)->uid, arrival->held);
	if (!request || registry_add(services->runs, request) < 0) {
		error.code = RPC_CODE_BUSY;
		error.message = "no memory for another run";
		conn_send_error(conn, msgid, &error);
		if (request)
			request_free(request);
		return NULL;
	}
	return request;
}

static void start_run(const struct arrival *arrival, bool is_check)
{
	struct request *request = methods_admit(arrival, is_check);

	if (request)
		request_enter(request, STAGE_CONTRACT);
}

/* The error repeats the unknown name (at most RPC_METHOD_LEN_MAX) and suggests the nearest one. */
static void refuse_unknown(const struct arrival *arrival)
{
	const char *name = arrival->message->method;
	struct nearest nearest = NEAREST_OF(name);
	char text[ERR_TEXT_MAX];
	struct rpc_error error = { .code = RPC_CODE_UNKNOWN_METHOD,
		.message = "there is no such method" };

	for (int id = 0; id < METHOD_COUNT; id++)
		nearest_offer(&nearest, method_of((enum method_id)id)->name);
	if (name_is_printable(name, strlen(name))) {
		cut_printf(text, sizeof(text), "there is no method \"%s\"%s", name,
			nearest_hint(&nearest));
		error.message = text;
	}
	arrival_refuse(arrival, &error);
}

void methods_start(const struct arrival *arrival)
{
	const struct method *method = method_find(arrival->message->method);
	struct job_refusal refusal = { 0 };
	struct err err = ERR_INIT;
	struct call *call;
	int checked;

	if (!method) {
		refuse_unknown(arrival);
		return;
	}
	if (method_right(method, conn_caller(arrival->conn)->roles) == RIGHT_NO) {
		refuse_right(arrival, method);
		return;
	}
	if (!starts[method->id]) {
		start_run(arrival, method->id == METHOD_CHECK);
		return;
	}
	call = call_new(arrival, method);
	if (!call)
		return;
	call->params = method_without_absent(&call->arena, method->id, call->params);
	if (!call->params) {
		call_error(call, RPC_CODE_INTERNAL, "no memory to read the params");
		return;
	}
	checked = method_check_params(&call->arena, method->id, call->params, &refusal, &err);
	if (checked > 0)
		call_refuse(call, &refusal);
	else if (checked < 0)
		call_error(call, RPC_CODE_INTERNAL, "%s", err.text);
	else
		starts[method->id](call);
}
