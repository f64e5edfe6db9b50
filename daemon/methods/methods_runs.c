/*
 * `wait` and `cancel` of a run in progress, or of one that only the store knows; `runs.replay`.
 *
 * A call that waits for a run in progress is in services->waits, with the run's id.
 */
#include <string.h>
#include <strings.h>

#include "daemon/methods/methods.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/request/replay.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "proto/base/container.h"
#include "proto/base/list.h"

/* A search among the runs in progress, for those that `is_meant` accepts. */
struct search {
	const struct call *call;
	bool (*is_meant)(const struct search *search, const struct request *request);
	const char *name;
	uint32_t msgid;
	struct request *found; /* the oldest match */
	unsigned count;
};

/* Matches the run id, or the beginning of it. */
static bool has_run_id(const struct search *search, const struct request *request)
{
	return !strncasecmp(request->result.run_id, search->name, strlen(search->name)) &&
	       (search->call->right == RIGHT_YES ||
		       search->call->caller.uid == request->caller.uid);
}

/*
 * The run_id that the caller chose, while the run does not have it yet: a thread still searches its
 * params for secrets, or checks in the store that the id is free.  NULL: none.
 */
static const char *asked_run_id(const struct request *request)
{
	if (request->stage != STAGE_CONTRACT)
		return NULL;
	return request_is_read(request) ? request->spec.run_id
					: value_as_text(value_get(request->params, "run_id"));
}

/* Matches the run_id that the caller chose. */
static bool asks_for_run_id(const struct search *search, const struct request *request)
{
	const char *run_id = asked_run_id(request);

	return run_id && search->call->caller.uid == request->caller.uid &&
	       strcmp(run_id, search->name) == 0;
}

/* Matches the caller's `id`, also while a thread still reads the params. */
static bool has_id(const struct search *search, const struct request *request)
{
	const char *id = request_is_read(request) ? request->spec.id
						  : value_as_text(value_get(request->params, "id"));

	return id && search->call->caller.uid == request->caller.uid &&
	       strcmp(id, search->name) == 0;
}

static bool has_id_and_goes_on(const struct search *search, const struct request *request)
{
	return !request_is_canceled(request) && has_id(search, request);
}

/* Matches the msgid, on the same connection. */
static bool has_msgid(const struct search *search, const struct request *request)
{
	return request->conn == search->call->conn && request->msgid == search->msgid;
}

static int match_run(void *context, struct request *request)
{
	struct search *search = context;

	if (request->is_check || !search->is_meant(search, request))
		return 0;
	if (!search->found || strcmp(request->result.run_id, search->found->result.run_id) < 0)
		search->found = request;
	search->count++;
	return 0;
}

static struct request *search_runs(struct search *search)
{
	search->found = NULL;
	search->count = 0;
	(void)registry_each(search->call->services->runs, match_run, search);
	return search->found;
}

struct request *method_find_run(const struct call *call)
{
	struct search search = { .call = call,
		.is_meant = has_run_id,
		.name = value_as_text(value_get(call->params, "run_id")) };

	return search_runs(&search) && search.count == 1 ? search.found : NULL;
}

/* Also finds a run that has just arrived and does not have its chosen id yet. */
static struct request *find_by_run_id(const struct call *call)
{
	struct request *request = method_find_run(call);
	struct search search = { .call = call,
		.is_meant = asks_for_run_id,
		.name = value_as_text(value_get(call->params, "run_id")) };

	return request ? request : search_runs(&search);
}

static const char *id_of(const struct call *call)
{
	return value_as_text(value_get(call->params, "id"));
}

/* The request that runs this id or checks whether it has run; else the oldest with this id. */
static struct request *find_by_id(const struct call *call)
{
	struct search search = { .call = call, .is_meant = has_id, .name = id_of(call) };
	struct claim_entry *entry =
		claims_find(call->services->claims, call->caller.uid, search.name);

	return entry ? container_of(entry, struct request, claim) : search_runs(&search);
}

/* NULL: none or several, and the call has been answered with an error. */
static struct request *find_by_msgid(struct call *call)
{
	struct search search = { .call = call,
		.is_meant = has_msgid,
		.msgid = (uint32_t)value_as_int(value_get(call->params, "msgid"), 0) };

	if (search_runs(&search) && search.count == 1)
		return search.found;
	if (search.count)
		call_error(call, RPC_CODE_CONFLICT,
			"%u runs of this connection have the msgid %u: name one by its run_id",
			search.count, search.msgid);
	else
		call_error(call, RPC_CODE_NOT_FOUND,
			"no run of this connection with the msgid %u is in progress", search.msgid);
	return NULL;
}

/* Which key names the run.  NULL: not exactly one, and the call has been refused. */
static const char *way_of_naming(struct call *call)
{
	static const char *const keys[] = { "run_id", "id", "msgid" };
	struct job_refusal refusal = { "/run_id", "missing",
		"/run_id: is missing; name the run by its run_id, its id or its msgid" };
	const char *way = NULL;
	unsigned count = 0;

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		if (!value_get(call->params, keys[i]))
			continue;
		way = keys[i];
		count++;
	}
	if (count == 1 && (way[0] != 'i' || id_of(call)))
		return way;
	if (count == 1)
		refusal = (struct job_refusal){ "/id", "value", "/id: contains U+0000" };
	else if (count)
		refusal = (struct job_refusal){ "", "conflict",
			"name the run by only one of run_id, id and msgid" };
	call_refuse(call, &refusal);
	return NULL;
}

/* ---- cancel -------------------------------------------------------------------------------- */

static void cancel_run(struct call *call, struct request *request)
{
	bool by_owner = call->caller.uid == request->caller.uid;

	call_result(call, value_map(&call->arena));
	request_cancel(request, by_owner ? KILLED_CANCEL : KILLED_ADMIN);
}

/* Cancels every request with this id: if only the first ended, the next one would run. */
static void cancel_action(struct call *call)
{
	struct search search = {
		.call = call, .is_meant = has_id_and_goes_on, .name = id_of(call)
	};

	if (!find_by_id(call)) {
		call_error(call, RPC_CODE_NOT_FOUND,
			"no run of this caller with the id \"%s\" is in progress", search.name);
		return;
	}
	while (search_runs(&search))
		request_cancel(search.found, KILLED_CANCEL);
	call_result(call, value_map(&call->arena));
}

/* The store may know a name that no run in progress has: `last`, or the id of a run that ended. */
void method_cancel(struct call *call)
{
	const char *way = way_of_naming(call);
	struct request *request;

	if (!way)
		return;
	if (strcmp(way, "id") == 0) {
		cancel_action(call);
		return;
	}
	request = strcmp(way, "msgid") == 0 ? find_by_msgid(call) : find_by_run_id(call);
	if (request)
		cancel_run(call, request);
	else if (strcmp(way, "run_id") == 0)
		method_from_store(call);
}

void method_cancel_found(struct call *call, struct value *found)
{
	struct request *request = registry_find(call->services->runs, call->run_id);

	(void)found;
	if (request)
		cancel_run(call, request);
	else
		call_error(call, RPC_CODE_NOT_FOUND, "run %s is not in progress", call->run_id);
}

/* ---- wait ---------------------------------------------------------------------------------- */

static void on_wait_over(void *owner)
{
	struct call *call = owner;
	const struct request *request = registry_find(call->services->runs, call->run_id);
	const char *asked = request ? asked_run_id(request) : NULL;
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "run_id",
		value_text(&call->arena, asked ? asked : call->run_id));
	value_map_put(&call->arena, map, "state",
		value_text(&call->arena,
			request && request_is_parked(request) ? "parked" : "running"));
	call_result(call, map);
}

static void wait_for_run(struct call *call, const struct request *request)
{
	uint64_t most_ms = call->services->config->wait_ms;
	int64_t asked_ms = value_as_int(value_get(call->params, "timeout_ms"), (int64_t)most_ms);

	memcpy(call->run_id, request->result.run_id, sizeof(call->run_id));
	call->timer = timer_new(call->services->loop,
		(uint64_t)asked_ms < most_ms ? (uint64_t)asked_ms : most_ms, 0, on_wait_over, call);
	if (!call->timer) {
		call_error(call, RPC_CODE_BUSY, "there is no memory for another wait");
		return;
	}
	list_append(call->services->waits, &call->link);
}

/* The store finds the run of an id after that run has ended; it does not record msgids. */
void method_wait(struct call *call)
{
	const char *way = way_of_naming(call);
	struct request *request;

	if (!way)
		return;
	if (strcmp(way, "id") == 0)
		request = find_by_id(call);
	else
		request = strcmp(way, "msgid") == 0 ? find_by_msgid(call) : find_by_run_id(call);
	if (request)
		wait_for_run(call, request);
	else if (strcmp(way, "msgid") != 0)
		method_from_store(call);
}

void method_wait_found(struct call *call, struct value *record)
{
	const struct request *request = registry_find(call->services->runs, call->run_id);

	if (request) {
		wait_for_run(call, request);
	} else if (value_is(value_get(record, "outcome"), VALUE_NIL) && !call->asked_again) {
		call->asked_again = true; /* it ended after the store was read */
		method_from_store(call);
	} else {
		call_result(call, record);
	}
}

/* Moves the calls that wait for this run into *ret_calls. */
static void take_waiting(struct services *services, const char *run_id, struct list *ret_calls)
{
	list_init(ret_calls);
	list_for_each(at, services->waits) {
		struct call *call = container_of(at, struct call, link);

		if (strcmp(call->run_id, run_id) != 0)
			continue;
		list_remove(at);
		list_append(ret_calls, at);
	}
}

void waits_run_ended(struct services *services, const struct run_end *end)
{
	struct list calls;
	struct list *first;

	take_waiting(services, end->run_id, &calls);
	while ((first = list_first(&calls))) {
		struct call *call = container_of(first, struct call, link);

		list_remove(first);
		if (end->error)
			conn_send_error(call->conn, call->msgid, end->error);
		else
			conn_send_result(call->conn, call->msgid,
				call->caller.uid == end->uid ? end->result : end->masked);
		call_free(call);
	}
}

void waits_run_renamed(struct services *services, const char *old_id, const char *run_id)
{
	list_for_each(at, services->waits) {
		struct call *call = container_of(at, struct call, link);

		if (strcmp(call->run_id, old_id) == 0)
			cut_printf(call->run_id, sizeof(call->run_id), "%s", run_id);
	}
}

void waits_conn_gone(struct services *services, const struct conn *conn)
{
	list_for_each(at, services->waits) {
		struct call *call = container_of(at, struct call, link);

		if (call->conn == conn)
			call_free(call);
	}
}

/* ---- runs.replay --------------------------------------------------------------------------- */

/* Takes over what the caller changes against the first run. */
static void take_changes(struct call *call, struct value *params)
{
	static const char *const switches[] = { "deterministic", "announce" };
	const struct value *secrets = value_get(call->params, "secrets");

	if (secrets)
		value_map_put(&call->arena, params, "secrets", (struct value *)(uintptr_t)secrets);
	for (size_t i = 0; i < COUNT_OF(switches); i++)
		if (value_as_bool(value_get(call->params, switches[i]), false))
			value_map_put(
				&call->arena, params, switches[i], value_bool(&call->arena, true));
}

static void run_again(struct call *call, const struct value *record, const struct value *params)
{
	const char *calls = value_as_text(value_get(call->params, "calls"));
	const bool asks_client = calls && strcmp(calls, "client") == 0;
	const struct rpc_message message = {
		.kind = RPC_REQUEST, .msgid = call->msgid, .method = "run", .params = params
	};
	const struct arrival arrival = { .services = call->services,
		.conn = call->conn,
		.message = &message,
		.bytes = call->message,
		.arena = &call->arena,
		.held = call->held };
	struct request *request = methods_admit(&arrival, false);

	call_handed_on(call);
	if (!request)
		return;
	request->replayed = record;
	request->asks_client = asks_client;
	request->result.replay_of = value_as_text(value_get(record, "run_id"));
	request_enter(request, STAGE_CONTRACT);
}

/* Those of a cell are its session's; a session that is not there is refused later. */
static const struct value *secrets_of(const struct call *call, const char *session)
{
	const struct session *found =
		session ? sessions_find(call->services->sessions, session) : NULL;

	if (!session)
		return value_get(call->params, "secrets");
	return found && found->uid == call->caller.uid ? value_get(found->base, "secrets") : NULL;
}

/* Else secrets that were masked in the first record would be stored unmasked now. */
static bool names_secrets(struct call *call, const struct value *record, const char *session)
{
	const struct value *secrets = secrets_of(call, session);
	uint64_t given = value_is(secrets, VALUE_LIST) ? secrets->list.count : 0;
	uint64_t named = replay_secrets(record);

	if (given >= named)
		return true;
	call_error(call, RPC_CODE_CONFLICT,
		"the run had %llu secrets, which are not stored: name them again in `secrets`%s, "
		"so that they are masked this time too",
		(unsigned long long)named, session ? " of session.open" : "");
	return false;
}

void method_replay_found(struct call *call, struct value *record)
{
	const char *session = value_as_text(value_get(call->params, "session"));
	const char *why = NULL;
	struct value *params = replay_params(&call->arena, record, session, &why);

	if (!params) {
		call_error(call, why ? RPC_CODE_CONFLICT : RPC_CODE_INTERNAL, "%s",
			why ? why : "no memory to run it again");
		return;
	}
	if (conn_is_closing(call->conn)) {
		call_error(call, RPC_CODE_DRAINING, "the client has disconnected");
		return;
	}
	if (!names_secrets(call, record, session))
		return;
	take_changes(call, params);
	run_again(call, record, params);
}
