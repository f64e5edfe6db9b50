/* params against the contract -> struct job_spec, typed, complete, bounded. */
#include <string.h>

#include "daemon/allowances.h"
#include "daemon/fingerprint.h"
#include "daemon/server.h"
#include "daemon/stages.h"
#include "proto/rpc.h"
#include "proto/version.h"

/* Which runtimes there are, for a message that helps. */
static const char *runtime_names(struct request *request)
{
	const struct pool *pool = &request->server->pool;
	const char *names = "";

	for (unsigned i = 0; i < pool->runtime_count && names; i++)
		names = arena_printf(&request->arena, "%s%s%s", names, i ? ", " : "",
			pool->runtimes[i].config->name);
	return names ? names : "";
}

static enum stage refuse(struct request *request, const struct job_refusal *refusal)
{
	request->refusal = *refusal;
	request->result.outcome = OUTCOME_REFUSED;
	request->result.ran = RAN_NO;
	request->result.reason = refusal->message;
	request->failure.pointer = refusal->pointer;
	request->failure.reason = refusal->reason;
	request_fail(request, RPC_CODE_BAD_REQUEST, "%s", refusal->message);
	request_step(request, "contract.refused", "contract", false, refusal->message);
	return request->is_check ? STAGE_REPLY : STAGE_RECORD;
}

static enum stage refuse_word(struct request *request, const char *pointer, const char *message)
{
	struct job_refusal refusal = { .pointer = pointer, .reason = "value", .message = message };

	return refuse(request, &refusal);
}

/* Before anything is known to be right: what is no name of a runtime or policy has no numbers. */
static const struct job_bounds *bounds_of(const struct request *request, struct job_bounds *room)
{
	const struct server *server = request->server;
	const struct allowance_case what = {
		.runtime = value_as_text(value_get(request->params, "language")),
		.policy = value_as_text(value_get(request->params, "policy")),
		.has_caller = true,
		.uid = request->caller.uid,
		.gid = request->caller.gid,
	};

	return allowances_bounds(&server->config, &server->bounds, &what, room);
}

/* What it runs on: the interpreter, and what is below it. */
static const struct value *stamp(struct request *request)
{
	struct value *map = runtime_stamp(request->runtime, &request->arena);

	value_map_put(&request->arena, map, "ced", value_text(&request->arena, CED_VERSION));
	value_map_put(
		&request->arena, map, "kernel", value_text(&request->arena, fingerprint_kernel()));
	return map;
}

enum stage stage_contract(struct request *request)
{
	struct server *server = request->server;
	struct job_refusal refusal = { 0 };
	struct job_bounds room;
	struct err err = ERR_INIT;
	int checked = job_spec_from_value(&request->arena, request->params,
		bounds_of(request, &room), &request->spec, &refusal, &err);

	if (checked < 0) {
		request->result.outcome = OUTCOME_REFUSED;
		request->result.reason = "there was no memory to read the request";
		request_fail(request, RPC_CODE_TOO_LARGE, "%s", err.text);
		return request->is_check ? STAGE_REPLY : STAGE_RECORD;
	}
	if (checked > 0)
		return refuse(request, &refusal);
	request->has_spec = true;
	request->result.limits = request->spec.limits;
	job_code_hash(&request->spec, request->result.code_hash);
	job_input_hash(&request->spec, request->result.input_hash);
	request->runtime = pool_find(&server->pool, request->spec.language);
	if (!request->runtime)
		return refuse_word(request, "/language",
			arena_printf(&request->arena,
				"/language: this host has no runtime \"%s\"; it has: %s",
				request->spec.language, runtime_names(request)));
	request->policy = policies_find(server->policies, request->spec.policy);
	if (!request->policy)
		return refuse_word(request, "/policy",
			arena_printf(&request->arena, "/policy: there is no policy \"%s\"",
				request->spec.policy));
	request->result.runtime = stamp(request);
	if (request->spec.deterministic)
		request->runtime = request->runtime->steady;
	request_step(request, "contract.held", "contract", true, NULL);
	return STAGE_REPEAT;
}
