/* admin.status: the state of the daemon and its parts. */
#include <unistd.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/listener.h"
#include "daemon/methods/admin_ops.h"
#include "daemon/methods/methods.h"
#include "daemon/news/alerts.h"
#include "daemon/news/events.h"
#include "daemon/policy/allowances.h"
#include "daemon/record/audit.h"
#include "daemon/record/gc.h"
#include "daemon/record/page_check.h"
#include "daemon/record/store_failure.h"
#include "daemon/record/wallclock.h"
#include "daemon/request/approvals.h"
#include "daemon/request/registry.h"
#include "daemon/services.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/clock.h"
#include "proto/version.h"

/* {memory, pids, cpu, landlock_abi, why_not, missing}: which protections this host supports. */
static struct value *describe_host(const struct services *services, struct arena *arena)
{
	static const char *const words[] = { "rlimit", "cgroup1", "cgroup2" };
	const struct priv_host *host = services->host;
	struct value *map = value_map(arena);

	value_map_put(arena, map, "memory", value_text(arena, words[host->memory % 3]));
	value_map_put(arena, map, "pids", value_text(arena, words[host->pids % 3]));
	value_map_put(arena, map, "cpu", value_text(arena, words[host->cpu % 3]));
	value_map_put(arena, map, "landlock_abi",
		value_int(arena, host->landlock_abi > 0 ? host->landlock_abi : 0));
	value_map_put(
		arena, map, "why_not", value_text(arena, host->why_not[0] ? host->why_not : NULL));
	value_map_put(arena, map, "missing", layers_missing(host, arena));
	return map;
}

void method_status_found(struct call *call, struct value *store_status)
{
	struct services *services = call->services;
	struct arena *arena = &call->arena;
	struct value *map = value_map(arena);
	struct value *runtimes = value_list(arena);
	struct value *outcomes = value_map(arena);
	uint64_t commits = 0;
	uint64_t records = 0;

	recorder_counts(services->recorder, &commits, &records);
	for (unsigned i = 0; i < services->pool->runtime_count; i++)
		value_list_add(
			arena, runtimes, runtime_describe(&services->pool->runtimes[i], arena));
	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++)
		if (services->state->outcomes[i])
			value_map_put(arena, outcomes, outcome_word((enum outcome)i),
				value_uint(arena, services->state->outcomes[i]));
	value_map_put(arena, map, "version", value_text(arena, CED_VERSION));
	value_map_put(arena, map, "pid", value_int(arena, getpid()));
	value_map_put(arena, map, "uptime_s",
		value_int(arena, (clock_ms() - services->state->started_ms) / 1000));
	value_map_put(arena, map, "ready", value_bool(arena, services->state->ready));
	value_map_put(arena, map, "draining", value_bool(arena, services->state->draining));
	value_map_put(arena, map, "drained", value_bool(arena, services->admin_ops->drained));
	value_map_put(arena, map, "blocked", admin_ops_describe_blocks(services->admin_ops, arena));
	value_map_put(arena, map, "mode",
		value_text(arena, services->host->mode == PRIV_MODE_ROOT ? "root" : "user"));
	value_map_put(arena, map, "connections", value_int(arena, services->ceilings->conns));
	value_map_put(arena, map, "socket", listener_describe(services->listener, arena));
	value_map_put(arena, map, "held_bytes", value_uint(arena, services->ceilings->bytes));
	value_map_put(arena, map, "in_progress",
		value_int(arena,
			(int64_t)registry_count(services->runs) - services->approvals->count));
	value_map_put(arena, map, "parked", value_int(arena, services->approvals->count));
	value_map_put(arena, map, "subscriptions", value_int(arena, services->events->count));
	value_map_put(arena, map, "queued", value_int(arena, queue_count(services->queue)));
	value_map_put(arena, map, "runtimes", runtimes);
	value_map_put(arena, map, "inspectors", policies_status(services->policies, arena));
	value_map_put(arena, map, "outcomes", outcomes);
	value_map_put(arena, map, "commits", value_uint(arena, commits));
	value_map_put(arena, map, "records", value_uint(arena, records));
	store_failure_describe(arena, services->recorder, map);
	store_failure_describe_log(arena, services->recorder, map);
	value_map_put(arena, map, "host", describe_host(services, arena));
	value_map_put(arena, map, "roles", roles_describe(&services->config->roles, arena));
	value_map_put(arena, map, "allowances", allowances_describe(services->config, arena));
	value_map_put(arena, map, "store", store_status);
	value_map_put(arena, map, "alerts", alerts_describe(services->alerts, arena));
	value_map_put(arena, map, "gc", gc_describe(services->gc, arena));
	value_map_put(arena, map, "check", page_check_describe(services->page_check, arena));
	value_map_put(arena, map, "clock", wallclock_describe(services->wallclock, arena));
	value_map_put(arena, map, "audit", audit_describe(services->audit, arena));
	call_result(call, map);
}

/*
 * It answers also when the store cannot be read, because it is needed most then.  While the disk
 * stalls it does not try: a thread would wait for the disk.
 */
void method_status(struct call *call)
{
	const struct err *stall = recorder_stall(call->services->recorder);

	call->store_is_optional = true;
	if (stall)
		method_status_found(call, store_unreadable(&call->arena, stall));
	else
		method_from_store(call);
}
