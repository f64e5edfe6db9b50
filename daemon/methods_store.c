/* Questions whose answers are in the store: asked on a thread, answered in the loop. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/allowances.h"
#include "daemon/methods.h"
#include "daemon/readers.h"
#include "daemon/server.h"
#include "proto/base/clock.h"
#include "proto/version.h"

#define STREAM_BYTES_SHOWN \
	((uint64_t)64 << 10) /* of each stream in runs.get; runs.output has the rest */
#define STREAM_BYTES_WAITED ((uint64_t)1 << 20) /* and in wait, for a run that has ended */
#define LIST_LIMIT          50

/* A question with a store in its hand. */
struct asking {
	struct call *call;
	struct readers *readers;
	struct value *answer;
	int code; /* enum rpc_code, when there is no answer */
	struct err err;
};

static const char *text_of(const struct call *call, const char *key)
{
	return value_as_text(value_get(call->params, key));
}

void call_filter(const struct call *call, struct store_filter *ret_filter)
{
	const struct value *label = value_get(call->params, "label");
	const struct value *uid = value_get(call->params, "uid");

	memset(ret_filter, 0, sizeof(*ret_filter));
	ret_filter->all_callers = call->caller.is_admin;
	ret_filter->uid = call->caller.uid;
	ret_filter->since_wall_us = value_as_int(value_get(call->params, "since"), 0);
	ret_filter->until_wall_us = value_as_int(value_get(call->params, "until"), 0);
	ret_filter->outcome = text_of(call, "outcome");
	ret_filter->language = text_of(call, "language");
	ret_filter->agent = text_of(call, "agent");
	ret_filter->task = text_of(call, "task");
	ret_filter->code_hash = text_of(call, "code_hash");
	if (value_is(label, VALUE_MAP) && label->map.count == 1) {
		ret_filter->label_key = label->map.entries[0].key;
		ret_filter->label_value = value_as_text(label->map.entries[0].value);
	}
	ret_filter->has_uid_filter = uid != NULL;
	ret_filter->uid_filter = (uint32_t)value_as_int(uid, 0);
	ret_filter->before_run_id = text_of(call, "before");
	ret_filter->limit = (uint32_t)value_as_int(value_get(call->params, "limit"), LIST_LIMIT);
}

/* The full id of the run that the call names, among those its caller may see. */
static int resolve(struct asking *asking, struct store *store, char ret_run_id[RUN_ID_LEN + 1])
{
	struct store_filter filter;
	const char *name = asking->call->run_id;
	int found;

	if (!name[0])
		name = text_of(asking->call, "run_id");
	call_filter(asking->call, &filter);
	found = store_resolve(store, &filter, name, ret_run_id, &asking->err);
	if (found < 0)
		return -1;
	if (found > 0) {
		asking->code = RPC_CODE_NOT_FOUND;
		return err_set(&asking->err, ERR_MISSING,
			found == 1 ? "there is no run \"%s\", or not for this caller"
				   : "\"%s\" could be several runs: write more of the id",
			name);
	}
	return 0;
}

static int read_record(struct asking *asking, struct store *store, uint64_t stream_bytes)
{
	struct call *call = asking->call;
	uint32_t uid = 0;
	int got;

	if (resolve(asking, store, call->run_id) < 0)
		return -1;
	got = store_get(store, call->run_id, stream_bytes, &call->arena, &asking->answer, &uid,
		&asking->err);
	if (got > 0) {
		asking->code = RPC_CODE_NOT_FOUND;
		return err_set(&asking->err, ERR_MISSING, "there is no run %s", call->run_id);
	}
	return got;
}

static int read_get(struct asking *asking, struct store *store)
{
	return read_record(asking, store, STREAM_BYTES_SHOWN);
}

static int read_wait(struct asking *asking, struct store *store)
{
	return read_record(asking, store, STREAM_BYTES_WAITED);
}

/* Which run is meant; the call keeps its id. */
static int read_cancel(struct asking *asking, struct store *store)
{
	if (resolve(asking, store, asking->call->run_id) < 0)
		return -1;
	asking->answer = value_map(&asking->call->arena);
	return 0;
}

static int read_list(struct asking *asking, struct store *store)
{
	struct store_filter filter;

	call_filter(asking->call, &filter);
	return store_list(store, &filter, &asking->call->arena, &asking->answer, &asking->err);
}

static int read_output(struct asking *asking, struct store *store)
{
	const struct value *params = asking->call->params;
	const char *stream = text_of(asking->call, "stream");
	char run_id[RUN_ID_LEN + 1];
	int got;

	if (resolve(asking, store, run_id) < 0)
		return -1;
	got = store_output(store, run_id, stream ? stream : "stdout",
		(uint64_t)value_as_int(value_get(params, "offset"), 0),
		(uint64_t)value_as_int(value_get(params, "length"), 1 << 20), &asking->call->arena,
		&asking->answer, &asking->err);
	if (got > 0) {
		asking->code = RPC_CODE_NOT_FOUND;
		return err_set(&asking->err, ERR_MISSING, "run %s has no such stream", run_id);
	}
	return got;
}

static int read_stats(struct asking *asking, struct store *store)
{
	struct store_filter filter;
	const char *by = text_of(asking->call, "by");

	call_filter(asking->call, &filter);
	return store_stats(store, &filter, by ? by : "outcome", &asking->call->arena,
		&asking->answer, &asking->err);
}

static int read_status(struct asking *asking, struct store *store)
{
	return store_status(store, &asking->call->arena, &asking->answer, &asking->err);
}

static int read_acts(struct asking *asking, struct store *store)
{
	const struct value *params = asking->call->params;

	return store_acts(store, value_as_int(value_get(params, "before"), 0),
		(uint32_t)value_as_int(value_get(params, "limit"), LIST_LIMIT),
		&asking->call->arena, &asking->answer, &asking->err);
}

static int (*const reads[METHOD_COUNT])(struct asking *asking, struct store *store) = {
	[METHOD_WAIT] = read_wait,
	[METHOD_CANCEL] = read_cancel,
	[METHOD_RUNS_GET] = read_get,
	[METHOD_RUNS_LIST] = read_list,
	[METHOD_RUNS_OUTPUT] = read_output,
	[METHOD_STATS] = read_stats,
	[METHOD_ADMIN_STATUS] = read_status,
	[METHOD_ADMIN_ACTS] = read_acts,
};

/* On a thread. */
static void ask(void *context)
{
	struct asking *asking = context;
	struct store *store = readers_take(asking->readers, &asking->err);

	if (!store)
		return;
	if (reads[asking->call->method->id](asking, store) < 0)
		asking->answer = NULL;
	readers_give(asking->readers, store);
}

/* What the daemon knows of itself, around what the store said of itself. */
static struct value *status_of(struct call *call, struct value *store_status_map)
{
	struct server *server = call->server;
	struct arena *arena = &call->arena;
	struct value *map = value_map(arena);
	struct value *runtimes = value_list(arena);
	struct value *outcomes = value_map(arena);
	uint64_t commits = 0;
	uint64_t records = 0;

	recorder_counts(server->recorder, &commits, &records);
	for (unsigned i = 0; i < server->pool.runtime_count; i++)
		value_list_add(arena, runtimes, pool_describe(&server->pool.runtimes[i], arena));
	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++)
		if (server->outcomes[i])
			value_map_put(arena, outcomes, outcome_word((enum outcome)i),
				value_uint(arena, server->outcomes[i]));
	value_map_put(arena, map, "version", value_text(arena, CED_VERSION));
	value_map_put(arena, map, "pid", value_int(arena, getpid()));
	value_map_put(
		arena, map, "uptime_s", value_int(arena, (clock_ms() - server->started_ms) / 1000));
	value_map_put(arena, map, "draining", value_bool(arena, server->draining));
	value_map_put(arena, map, "drained", value_bool(arena, server->levers.drained));
	value_map_put(arena, map, "blocked", levers_describe_blocks(&server->levers, arena));
	value_map_put(arena, map, "mode",
		value_text(arena, server->host.mode == PRIV_MODE_ROOT ? "root" : "user"));
	value_map_put(arena, map, "connections", value_int(arena, server->ceilings.conns));
	value_map_put(arena, map, "held_bytes", value_uint(arena, server->ceilings.bytes));
	value_map_put(arena, map, "in_house", value_int(arena, (int64_t)server->runs.count));
	value_map_put(arena, map, "subscriptions", value_int(arena, server->events.count));
	value_map_put(arena, map, "queued", value_int(arena, server->queue.count));
	value_map_put(arena, map, "runtimes", runtimes);
	value_map_put(arena, map, "inspectors", policies_status(server->policies, arena));
	value_map_put(arena, map, "outcomes", outcomes);
	value_map_put(arena, map, "commits", value_uint(arena, commits));
	value_map_put(arena, map, "records", value_uint(arena, records));
	value_map_put(arena, map, "trouble", value_text(arena, recorder_trouble(server->recorder)));
	value_map_put(arena, map, "host", server_describe_host(server, arena));
	value_map_put(arena, map, "allowances", allowances_describe(&server->config, arena));
	value_map_put(arena, map, "store", store_status_map);
	return map;
}

static void answer(void *context)
{
	struct asking *asking = context;
	struct call *call = asking->call;
	struct value *result = asking->answer;

	if (call->server->closing) /* what it would tell about has gone, and its connection too */
		call_error(call, RPC_CODE_DRAINING, "the daemon is closing");
	else if (!result)
		call_error(call, (enum rpc_code)asking->code, "%s", asking->err.text);
	else if (call->method->id == METHOD_ADMIN_STATUS)
		call_result(call, status_of(call, result));
	else if (call->method->id == METHOD_WAIT || call->method->id == METHOD_CANCEL)
		method_found(call, result);
	else
		call_result(call, result);
	free(asking);
}

void method_from_store(struct call *call)
{
	struct asking *asking = calloc(1, sizeof(*asking));

	if (!asking) {
		call_error(call, RPC_CODE_INTERNAL, "there is no memory to ask the store");
		return;
	}
	asking->call = call;
	asking->readers = call->server->readers;
	asking->code = RPC_CODE_INTERNAL;
	if (errands_start(&call->server->errands, call->caller.uid, ask, answer, asking) < 0) {
		free(asking);
		call_error(call, RPC_CODE_INTERNAL, "there is no thread to ask the store");
	}
}
