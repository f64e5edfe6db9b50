#include "daemon/methods/methods_runs.h"

#include <string.h>
#include <strings.h>

#include "daemon/gate/approvals.h"
#include "daemon/methods/methods.h"
#include "daemon/server.h"

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
void method_cancel(struct call *call)
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

void method_wait(struct call *call)
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
