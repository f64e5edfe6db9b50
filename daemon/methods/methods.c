#include "daemon/methods/methods.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "daemon/gate/approvals.h"
#include "daemon/methods/methods_budgets.h"
#include "daemon/methods/policy_methods.h"
#include "daemon/pipeline.h"
#include "daemon/record/backups.h"
#include "daemon/record/gc.h"
#include "daemon/record/trouble.h"
#include "daemon/server.h"
#include "daemon/settings/allowances.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/version.h"

void call_handed_on(struct call *call)
{
	list_remove(&call->link);
	timer_close(call->timer);
	conn_release(call->conn);
	free(call);
}

static void call_free(struct call *call)
{
	ceilings_let_go(&call->server->ceilings, call->caller.uid, call->held);
	arena_done(&call->arena);
	free(call->message);
	call_handed_on(call);
}

/*
 * A send can close the connection, which frees every call of it that waits: this one no longer
 * does.
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

/* ---- answered at once ----------------------------------------------------------------------- */

static struct value *describe_limits(struct arena *arena, const struct job_limits *limits)
{
	struct job_limits told = *limits;

	job_limits_settle(&told);
	return job_limits_to_value(arena, &told);
}

/* What this caller's runs get and may ask for: {standard, most}. */
static struct value *describe_bounds(struct call *call, const char *runtime)
{
	const struct server *server = call->server;
	const struct allowance_case what = { runtime, NULL, true, call->caller.uid,
		call->caller.gid };
	struct value *map = value_map(&call->arena);
	struct job_bounds room;
	const struct job_bounds *bounds =
		allowances_bounds(&server->config, &server->bounds, &what, &room);

	value_map_put(
		&call->arena, map, "standard", describe_limits(&call->arena, &bounds->standard));
	value_map_put(&call->arena, map, "most", describe_limits(&call->arena, &bounds->most));
	return map;
}

static struct value *describe_runtime(struct call *call, const struct runtime *runtime)
{
	struct value *map = runtime_describe(runtime, &call->arena);

	value_map_put(&call->arena, map, "limits", describe_bounds(call, runtime->config->name));
	return map;
}

static struct value *describe_runtimes(struct call *call)
{
	const struct pool *pool = &call->server->pool;
	struct value *list = value_list(&call->arena);

	for (unsigned i = 0; i < pool->runtime_count; i++)
		value_list_add(&call->arena, list, describe_runtime(call, &pool->runtimes[i]));
	return list;
}

static struct value *describe_roles(struct call *call)
{
	struct value *list = value_list(&call->arena);

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		if (caller_is(&call->caller, (enum role)role))
			value_list_add(&call->arena, list,
				value_text(&call->arena, role_word((enum role)role)));
	return list;
}

static void method_hello(struct call *call)
{
	struct arena *arena = &call->arena;
	struct value *map = value_map(arena);
	struct value *you = value_map(arena);

	value_map_put(arena, you, "uid", value_int(arena, call->caller.uid));
	value_map_put(arena, you, "role", value_text(arena, role_highest(call->caller.roles)));
	value_map_put(arena, you, "roles", describe_roles(call));
	value_map_put(arena, map, "server", value_text(arena, "ced"));
	value_map_put(arena, map, "version", value_text(arena, CED_VERSION));
	value_map_put(arena, map, "protocol", value_int(arena, CED_PROTOCOL));
	value_map_put(arena, map, "runtimes", describe_runtimes(call));
	value_map_put(arena, map, "policies", policies_describe(call->server->policies, arena));
	value_map_put(arena, map, "limits", describe_bounds(call, NULL));
	value_map_put(arena, map, "you", you);
	call_result(call, map);
}

static void method_runtimes(struct call *call)
{
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "runtimes", describe_runtimes(call));
	call_result(call, map);
}

/* ---- about a run in the house --------------------------------------------------------------- */

struct search {
	const struct call *call;
	const char *name;
	struct request *found;
	unsigned count;
};

static int match_run(void *context, const void *key, size_t key_len, void *value)
{
	struct search *search = context;
	struct request *request = value;

	if (!request->is_check && strlen(search->name) <= key_len &&
		!strncasecmp(key, search->name, strlen(search->name)) &&
		(search->call->right == RIGHT_YES ||
			search->call->caller.uid == request->caller.uid)) {
		search->found = request;
		search->count++;
	}
	return 0;
}

struct request *method_find_run(const struct call *call)
{
	struct search search = { .call = call,
		.name = value_as_text(value_get(call->params, "run_id")) };

	(void)map_each(&call->server->runs, match_run, &search);
	return search.count == 1 ? search.found : NULL;
}

static void cancel_run(struct call *call, struct request *request)
{
	bool by_owner = call->caller.uid == request->caller.uid;

	call_result(call, value_map(&call->arena));
	request_cancel(request, by_owner ? KILLED_CANCEL : KILLED_ADMIN);
}

/* What the house does not know by this name, the store may: `last`, or the id of one that ended. */
static void method_cancel(struct call *call)
{
	struct request *request = method_find_run(call);

	if (request)
		cancel_run(call, request);
	else
		method_from_store(call);
}

static void on_wait_over(void *owner)
{
	struct call *call = owner;
	const struct request *request = map_get(&call->server->runs, call->run_id, RUN_ID_LEN);
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "run_id", value_text(&call->arena, call->run_id));
	value_map_put(&call->arena, map, "state",
		value_text(&call->arena,
			request && approval_outlives(request) ? "parked" : "running"));
	call_result(call, map);
}

static void wait_for_run(struct call *call, const struct request *request)
{
	uint64_t most_ms = call->server->config.wait_ms;
	int64_t asked_ms = value_as_int(value_get(call->params, "timeout_ms"), (int64_t)most_ms);

	memcpy(call->run_id, request->result.run_id, sizeof(call->run_id));
	call->timer = timer_new(&call->server->loop,
		(uint64_t)asked_ms < most_ms ? (uint64_t)asked_ms : most_ms, 0, on_wait_over, call);
	list_append(&call->server->waits, &call->link);
}

static void method_wait(struct call *call)
{
	struct request *request = method_find_run(call);

	if (request)
		wait_for_run(call, request);
	else
		method_from_store(call);
}

void method_found(struct call *call, const struct value *record)
{
	struct request *request = map_get(&call->server->runs, call->run_id, RUN_ID_LEN);
	bool is_wait = call->method->id == METHOD_WAIT;

	if (request && is_wait) {
		wait_for_run(call, request);
	} else if (request) {
		cancel_run(call, request);
	} else if (!is_wait) {
		call_error(call, RPC_CODE_NOT_FOUND, "run %s is not in flight", call->run_id);
	} else if (value_is(value_get(record, "outcome"), VALUE_NIL) && !call->asked_again) {
		call->asked_again = true; /* it ended after the store was read */
		method_from_store(call);
	} else {
		call_result(call, record);
	}
}

/* The calls that wait for this run, taken from those that wait for any. */
static void take_waiting(struct server *server, const char *run_id, struct list *ret_calls)
{
	list_init(ret_calls);
	list_for_each(at, &server->waits) {
		struct call *call = container_of(at, struct call, link);

		if (strcmp(call->run_id, run_id) != 0)
			continue;
		list_remove(at);
		list_append(ret_calls, at);
	}
}

void methods_run_ended(struct server *server, const struct run_end *end)
{
	struct list calls;
	struct list *first;

	take_waiting(server, end->run_id, &calls);
	while ((first = list_first(&calls))) {
		struct call *call = container_of(first, struct call, link);

		list_remove(first);
		if (end->error)
			conn_send_error(call->conn, call->msgid, end->error);
		else
			conn_send_result(call->conn, call->msgid,
				call->caller.uid == end->uid ? end->result : end->kept);
		call_free(call);
	}
}

void methods_conn_gone(struct server *server, struct conn *conn)
{
	backups_conn_gone(&server->backups, conn);
	list_for_each(at, &server->waits) {
		struct call *call = container_of(at, struct call, link);

		if (call->conn == conn)
			call_free(call);
	}
}

/* ---- the table ------------------------------------------------------------------------------ */

static void (*const starts[METHOD_COUNT])(struct call *call) = {
	[METHOD_HELLO] = method_hello,
	[METHOD_WAIT] = method_wait,
	[METHOD_CANCEL] = method_cancel,
	[METHOD_RUNTIMES] = method_runtimes,
	[METHOD_BLOB_PUT] = method_blob_put,
	[METHOD_BLOB_GET] = method_blob_get,
	[METHOD_RUNS_LIST] = method_from_store,
	[METHOD_RUNS_GET] = method_from_store,
	[METHOD_RUNS_OUTPUT] = method_from_store,
	[METHOD_RUNS_REPLAY] = method_from_store,
	[METHOD_STATS] = method_from_store,
	[METHOD_POLICIES_LIST] = method_policies_list,
	[METHOD_POLICIES_SHOW] = method_policies_show,
	[METHOD_POLICIES_TEST] = method_policies_test,
	[METHOD_ADMIN_STATUS] = method_from_store,
	[METHOD_ADMIN_ACTS] = method_from_store,
	[METHOD_ADMIN_GC] = method_gc,
	[METHOD_AUDIT_BACKUP] = method_backup,
	[METHOD_AUDIT_EXPORT] = method_from_store,
	[METHOD_EVENTS_SUBSCRIBE] = method_subscribe,
	[METHOD_APPROVALS_LIST] = method_from_store,
	[METHOD_APPROVALS_APPROVE] = method_decide,
	[METHOD_APPROVALS_DENY] = method_decide,
	[METHOD_APPROVALS_REVOKE] = method_revoke,
	[METHOD_ADMIN_DRAIN] = method_lever,
	[METHOD_ADMIN_RESUME] = method_lever,
	[METHOD_ADMIN_KILL_ALL] = method_lever,
	[METHOD_ADMIN_BLOCK] = method_lever,
	[METHOD_ADMIN_UNBLOCK] = method_lever,
	[METHOD_ADMIN_RESET_BUDGET] = method_lever,
	[METHOD_BUDGETS_LIST] = method_budgets,
	[METHOD_AUDIT_VERIFY] = method_from_store,
	[METHOD_AUDIT_CHECKPOINT] = method_audit_checkpoint,
	[METHOD_AUDIT_KEY] = method_audit_key,
};

static void refuse(const struct arrival *arrival, const struct rpc_error *error)
{
	uint32_t uid = conn_caller(arrival->conn)->uid;

	conn_send_error(arrival->conn, arrival->message->msgid, error);
	ceilings_let_go(&arrival->server->ceilings, uid, arrival->held);
	arena_done(arrival->arena);
	free(arrival->bytes);
}

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

/* Not for any of the caller's roles. */
static void refuse_right(const struct arrival *arrival, const struct method *method)
{
	unsigned roles = conn_caller(arrival->conn)->roles;
	char text[ERR_TEXT_MAX];
	struct rpc_error error = { .code = RPC_CODE_FORBIDDEN, .message = text };

	if (roles)
		name_roles(method, text, sizeof(text));
	else
		error.message = "this user has no role here; who has one stands in the daemon's "
				"settings `users` and `user_groups`";
	refuse(arrival, &error);
}

/* Why a run cannot even be looked at now, or NULL. */
static const char *closed_door(const struct arrival *arrival, struct rpc_error *ret_error)
{
	const struct server *server = arrival->server;
	const struct err *trouble = recorder_trouble(server->recorder);
	const char *refusal = levers_refusal(
		&server->levers, conn_caller(arrival->conn)->uid, arrival->arena, &ret_error->code);

	if (refusal)
		return refusal;

	if (server->draining) {
		ret_error->code = RPC_CODE_DRAINING;
		return "the daemon takes no new runs";
	}
	if (!trouble)
		return NULL;
	ret_error->code = trouble_code(trouble);
	ret_error->data = trouble_data(arrival->arena, trouble);
	return trouble->text;
}

struct request *methods_admit(const struct arrival *arrival, bool is_check)
{
	struct server *server = arrival->server;
	struct conn *conn = arrival->conn;
	uint32_t msgid = arrival->message->msgid;
	struct rpc_error error = { .code = RPC_CODE_BUSY };
	struct request *request;

	error.message = closed_door(arrival, &error);
	if (error.message) {
		refuse(arrival, &error);
		return NULL;
	}
	request = request_new(
		server, conn, arrival->message, is_check, arrival->bytes, arrival->arena);
	if (request)
		request->held_bytes = arrival->held;
	else
		ceilings_let_go(&server->ceilings, conn_caller(conn)->uid, arrival->held);
	if (!request || server_remember(server, request) < 0) {
		error.code = RPC_CODE_BUSY;
		error.message = "there is no memory for another run";
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

static struct call *call_new(const struct arrival *arrival, const struct method *method)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call) {
		struct rpc_error error = { .code = RPC_CODE_BUSY,
			.message = "there is no memory for its question" };

		refuse(arrival, &error);
		return NULL;
	}
	list_init(&call->link);
	call->server = arrival->server;
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

void methods_start(const struct arrival *arrival)
{
	const struct method *method = method_find(arrival->message->method);
	struct job_refusal refusal = { 0 };
	struct err err = ERR_INIT;
	struct call *call;
	int checked;

	if (!method) {
		struct rpc_error error = { .code = RPC_CODE_UNKNOWN_METHOD,
			.message = "there is no such method" };

		refuse(arrival, &error);
		return;
	}
	if (method_right(method, conn_caller(arrival->conn)->roles) == RIGHT_NO) {
		refuse_right(arrival, method);
		return;
	}
	if (method->id == METHOD_RUN || method->id == METHOD_CHECK) {
		start_run(arrival, method->id == METHOD_CHECK);
		return;
	}
	call = call_new(arrival, method);
	if (!call)
		return;
	checked = method_check_params(&call->arena, method->id, call->params, &refusal, &err);
	if (checked > 0)
		call_refuse(call, &refusal);
	else if (checked < 0)
		call_error(call, RPC_CODE_INTERNAL, "%s", err.text);
	else
		starts[method->id](call);
}
