/* runs.replay: makes a request from a record and enters it into the pipeline. */
#include "daemon/methods/methods.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/replay.h"
#include "daemon/services.h"
#include "proto/base/container.h"

/* Takes over what the caller changes against the first run. */
static void take_wishes(struct call *call, struct value *params)
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
	request->result.replay_of = value_as_text(value_get(record, "run_id"));
	request_enter(request, STAGE_CONTRACT);
}

/* Else secrets that were masked in the first record would be stored unmasked now. */
static bool names_secrets(struct call *call, const struct value *record)
{
	const struct value *secrets = value_get(call->params, "secrets");
	uint64_t given = value_is(secrets, VALUE_LIST) ? secrets->list.count : 0;
	uint64_t named = replay_secrets(record);

	if (given >= named)
		return true;
	call_error(call, RPC_CODE_CONFLICT,
		"it came with %llu secrets, which are stored nowhere: name them again in `secrets`, "
		"so that they are masked this time, too",
		(unsigned long long)named);
	return false;
}

void method_replay(struct call *call, const struct value *record)
{
	const char *why = NULL;
	struct value *params = replay_params(&call->arena, record, &why);

	if (!params) {
		call_error(call, why ? RPC_CODE_CONFLICT : RPC_CODE_INTERNAL, "%s",
			why ? why : "there is no memory to run it again");
		return;
	}
	if (conn_is_closing(call->conn)) {
		call_error(call, RPC_CODE_DRAINING, "the client has left");
		return;
	}
	if (!names_secrets(call, record))
		return;
	take_wishes(call, params);
	run_again(call, record, params);
}
