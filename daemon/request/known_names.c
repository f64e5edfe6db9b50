#include "daemon/request/known_names.h"

#include "daemon/policy/policy.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/arena.h"
#include "proto/base/nearest.h"

static const char *runtime_names(const struct services *services, struct arena *arena)
{
	const struct pool *pool = services->pool;
	const char *list = "";

	for (unsigned i = 0; i < pool->runtime_count && list; i++)
		list = arena_printf(
			arena, "%s%s%s", list, i ? ", " : "", pool->runtimes[i].config->name);
	return list ? list : "";
}

static const char *policy_names(const struct services *services, struct arena *arena)
{
	const struct value *policies = policies_describe(services->policies, arena);
	const char *list = "";

	for (size_t i = 0; value_at(policies, i) && list; i++)
		list = arena_printf(arena, "%s%s%s", list, i ? ", " : "",
			value_as_text(value_get(value_at(policies, i), "name")));
	return list ? list : "";
}

const char *names_unknown_runtime(
	const struct services *services, struct arena *arena, const char *name)
{
	const struct pool *pool = services->pool;
	struct nearest nearest = NEAREST_OF(name);

	if (!name || pool_find(services->pool, name))
		return NULL;
	for (unsigned i = 0; i < pool->runtime_count; i++)
		nearest_offer(&nearest, pool->runtimes[i].config->name);
	return arena_printf(arena, "/language: this host has no runtime \"%s\"%s %s has: %s", name,
		nearest.best ? nearest_hint(&nearest) : ";", nearest.best ? "It" : "it",
		runtime_names(services, arena));
}

const char *names_unknown_policy(
	const struct services *services, struct arena *arena, const char *name)
{
	struct nearest nearest = NEAREST_OF(name);
	const struct value *policies;

	if (!name || policies_find(services->policies, name))
		return NULL;
	policies = policies_describe(services->policies, arena);
	for (size_t i = 0; value_at(policies, i); i++)
		nearest_offer(&nearest, value_as_text(value_get(value_at(policies, i), "name")));
	return arena_printf(arena, "/policy: there is no policy \"%s\"%s %s are: %s", name,
		nearest.best ? nearest_hint(&nearest) : ";", nearest.best ? "There" : "there",
		policy_names(services, arena));
}
