/* hello and runtimes: report the daemon, its runtimes and the caller's own rights and limits. */
#include "daemon/door/caller.h"
#include "daemon/methods/methods.h"
#include "daemon/policy/allowances.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/fill.h"
#include "proto/version.h"

static struct value *describe_limits(struct arena *arena, const struct job_limits *limits)
{
	struct job_limits settled = *limits;

	job_limits_settle(&settled);
	return job_limits_to_value(arena, &settled);
}

/* The limits that this caller's runs get by default, and the highest they may ask for. */
static struct value *describe_bounds(struct call *call, const char *runtime)
{
	const struct services *services = call->services;
	const struct allowance_case what = { runtime, NULL, true, call->caller.uid,
		call->caller.gid };
	struct value *map = value_map(&call->arena);
	struct job_bounds room;
	const struct job_bounds *bounds =
		allowances_bounds(services->config, services->bounds, &what, &room);

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
	const struct pool *pool = call->services->pool;
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

void method_hello(struct call *call)
{
	struct arena *arena = &call->arena;
	struct fill map = fill_start(arena);
	struct fill you = fill_start(arena);

	fill_int(&you, "uid", call->caller.uid);
	fill_text(&you, "role", role_highest(call->caller.roles));
	fill_value(&you, "roles", describe_roles(call));
	fill_text(&map, "server", "ced");
	fill_text(&map, "version", CED_VERSION);
	fill_int(&map, "protocol", CED_PROTOCOL);
	fill_value(&map, "runtimes", describe_runtimes(call));
	fill_value(&map, "policies", policies_describe(call->services->policies, arena));
	fill_value(&map, "limits", describe_bounds(call, NULL));
	fill_value(&map, "you", fill_done(&you));
	call_result(call, fill_done(&map));
}

void method_runtimes(struct call *call)
{
	struct value *map = value_map(&call->arena);

	value_map_put(&call->arena, map, "runtimes", describe_runtimes(call));
	call_result(call, map);
}
