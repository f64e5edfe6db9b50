/* Calls whose answers are in the store: a thread reads the store, and the loop answers. */
#include <stdlib.h>

#include "daemon/loop/thread_work.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/methods_runs.h"
#include "daemon/record/audit.h"
#include "daemon/record/page_check.h"
#include "daemon/record/readers.h"
#include "daemon/services.h"
#include "store/answers.h"

#define STREAM_BYTES_WAITED ((uint64_t)1 << 20)  /* of a stream that `wait` returns */
#define PART_BYTES_LISTED   ((uint64_t)64 << 10) /* of each input of a run that waits for approval */
#define APPROVALS_LIMIT     20
#define SOURCES_MOST        4 /* how many `cached_from` references are followed */

/* A call that a thread answers from the store. */
struct asking {
	struct call *call;
	struct readers *readers;
	struct store_answer answer;
	struct err err;
};

static struct store_question question_of(const struct call *call)
{
	return (struct store_question){ .method = call->method->id,
		.params = call->params,
		.all_callers = call->right == RIGHT_YES,
		.uid = call->caller.uid };
}

/* Finds the run that the call names, and puts its id into the call. */
static int read_name(struct asking *asking, struct store *store)
{
	const struct store_question question = question_of(asking->call);
	struct call *call = asking->call;
	const char *name = call->run_id;

	asking->answer.value = value_map(&call->arena); /* kept unless the lookup is refused */
	if (!name[0] && value_get(call->params, "id"))
		return store_answer_caller_id(
			store, &question, call->run_id, &asking->answer, &asking->err);
	if (!name[0])
		name = value_as_text(value_get(call->params, "run_id"));
	return store_answer_name(
		store, &question, name, call->run_id, &asking->answer, &asking->err);
}

static int read_record(struct asking *asking, struct store *store, uint64_t stream_bytes)
{
	struct call *call = asking->call;

	if (read_name(asking, store) < 0)
		return -1;
	if (!asking->answer.value)
		return 0;
	return store_answer_record(
		store, call->run_id, stream_bytes, &call->arena, &asking->answer, &asking->err);
}

static int read_wait(struct asking *asking, struct store *store)
{
	return read_record(asking, store, STREAM_BYTES_WAITED);
}

static const struct value *secrets_of(const struct value *record)
{
	return value_get(value_get(record, "request"), "secrets");
}

/*
 * A cached result has the masks of the run that produced it, whatever secrets its own caller named.
 * So the record gets the largest number of secrets of all runs it was taken from.
 */
static int read_sources(struct asking *asking, struct store *store)
{
	struct arena *arena = &asking->call->arena;
	struct value *request = value_get(asking->answer.value, "request");
	const struct value *record = asking->answer.value;
	const struct value *most = secrets_of(record);
	const char *from;

	for (unsigned i = 0;
		i < SOURCES_MOST && (from = value_as_text(value_get(record, "cached_from"))); i++) {
		struct store_answer source = { NULL, RPC_CODE_INTERNAL };

		if (store_answer_record(store, from, 0, arena, &source, &asking->err) < 0)
			return -1;
		record = source.value;
		if (value_as_int(secrets_of(record), 0) > value_as_int(most, 0))
			most = secrets_of(record);
	}
	if (most)
		value_map_put(arena, request, "secrets", value_int(arena, value_as_int(most, 0)));
	return 0;
}

/* Reads whole streams, because the program is run again and its output compared. */
static int read_replay(struct asking *asking, struct store *store)
{
	if (read_record(asking, store, UINT64_MAX) < 0)
		return -1;
	return asking->answer.value ? read_sources(asking, store) : 0;
}

static int read_status(struct asking *asking, struct store *store)
{
	return store_status(store, &asking->call->arena, &asking->answer.value, &asking->err);
}

static int read_answer(struct asking *asking, struct store *store)
{
	const struct store_question question = question_of(asking->call);

	return store_answer(store, &question, &asking->call->arena, &asking->answer, &asking->err);
}

static int read_verify(struct asking *asking, struct store *store)
{
	struct store_question question = question_of(asking->call);
	auto_free char *second = NULL;
	const struct value *params = asking->call->params;
	struct store_trust trust;
	/* Without `part`, compare the file's end: a store that was rolled back lacks it. */
	int64_t from = value_get(params, "part") ? value_as_int(value_get(params, "from"), 1) : 0;

	if (audit_trust(asking->call->services->audit, from, &second, &trust, &asking->err) < 0)
		return -1;
	question.trust = &trust;
	return store_answer(store, &question, &asking->call->arena, &asking->answer, &asking->err);
}

static int read_approvals(struct asking *asking, struct store *store)
{
	struct call *call = asking->call;
	struct store_approvals_filter filter = { .after = value_as_text(
							 value_get(call->params, "after")),
		.limit = (uint32_t)value_as_int(value_get(call->params, "limit"), APPROVALS_LIMIT),
		.part_bytes = PART_BYTES_LISTED };

	if (value_get(call->params, "run_id")) {
		if (read_name(asking, store) < 0)
			return -1;
		if (!asking->answer.value)
			return 0;
		filter.run_id = call->run_id;
		filter.part_bytes = STREAM_BYTES_WAITED;
	}
	return store_approvals(store, &filter, &call->arena, &asking->answer.value, &asking->err);
}

static int (*const reads[METHOD_COUNT])(struct asking *asking, struct store *store) = {
	[METHOD_WAIT] = read_wait,
	[METHOD_CANCEL] = read_name,
	[METHOD_RUNS_GET] = read_answer,
	[METHOD_RUNS_LIST] = read_answer,
	[METHOD_RUNS_OUTPUT] = read_answer,
	[METHOD_STATS] = read_answer,
	[METHOD_RUNS_REPLAY] = read_replay,
	[METHOD_APPROVALS_LIST] = read_approvals,
	[METHOD_APPROVALS_APPROVE] = read_wait,
	[METHOD_APPROVALS_DENY] = read_wait,
	[METHOD_ADMIN_STATUS] = read_status,
	[METHOD_ADMIN_ACTS] = read_answer,
	[METHOD_AUDIT_EXPORT] = read_answer,
	[METHOD_AUDIT_VERIFY] = read_verify,
};

/* On a thread. */
static void ask(void *context)
{
	struct asking *asking = context;
	struct store *store = readers_take(asking->readers, &asking->err);

	if (!store)
		return;
	if (reads[asking->call->method->id](asking, store) < 0)
		asking->answer = (struct store_answer){ NULL, RPC_CODE_INTERNAL };
	readers_give(asking->readers, store);
}

/* admin.status answers also when the store cannot be read, because it is needed most then. */
static struct value *unreadable_store(struct asking *asking)
{
	struct arena *arena = &asking->call->arena;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "unreadable", value_text(arena, asking->err.text));
	return map;
}

static void answer(void *context)
{
	struct asking *asking = context;
	struct call *call = asking->call;
	struct value *result = asking->answer.value;
	bool is_status = call->method->id == METHOD_ADMIN_STATUS;

	if (asking->err.code == ERR_CORRUPT && !call->services->state->closing)
		page_check_note_damage(call->services->page_check, &asking->err);
	if (!result && is_status)
		result = unreadable_store(asking);

	if (call->services->state
			->closing) /* the parts that it reads have gone, and its connection too */
		call_error(call, RPC_CODE_DRAINING, "the daemon is closing");
	else if (!result)
		call_error(call, asking->answer.code, "%s", asking->err.text);
	else if (is_status)
		call_result(call, method_status(call, result));
	else if (call->method->id == METHOD_RUNS_REPLAY)
		method_replay(call, result);
	else if (call->method->id == METHOD_WAIT || call->method->id == METHOD_CANCEL)
		method_found(call, result);
	else if (call->method->id == METHOD_APPROVALS_APPROVE ||
		 call->method->id == METHOD_APPROVALS_DENY)
		method_decide_found(call, result);
	else
		call_result(call, result);
	free(asking);
}

/* While the disk stalls, admin.status answers without the store: a thread would wait for it. */
static bool answer_alone(struct call *call)
{
	const struct err *stall = recorder_stall(call->services->recorder);
	struct value *map;

	if (!stall || call->method->id != METHOD_ADMIN_STATUS)
		return false;
	map = value_map(&call->arena);
	value_map_put(&call->arena, map, "unreadable", value_text(&call->arena, stall->text));
	call_result(call, method_status(call, map));
	return true;
}

void method_from_store(struct call *call)
{
	struct asking *asking;

	if (answer_alone(call))
		return;
	asking = calloc(1, sizeof(*asking));
	if (!asking) {
		call_error(call, RPC_CODE_INTERNAL, "there is no memory to ask the store");
		return;
	}
	asking->call = call;
	asking->readers = call->services->readers;
	asking->answer.code = RPC_CODE_INTERNAL;
	if (thread_work_start(call->services->thread_work, call->caller.uid, ask, answer, asking) <
		0) {
		free(asking);
		call_error(call, RPC_CODE_INTERNAL, "there is no thread to ask the store");
	}
}
