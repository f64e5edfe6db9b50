/* admin.status: what the daemon knows of itself. */
#include <unistd.h>

#include "daemon/door/listener.h"
#include "daemon/methods/methods.h"
#include "daemon/record/trouble.h"
#include "daemon/server.h"
#include "daemon/settings/allowances.h"
#include "proto/base/clock.h"
#include "proto/version.h"

/* {memory, pids, cpu, landlock_abi, why_not, missing}: what this host gives. */
static struct value *describe_host(const struct server *server, struct arena *arena)
{
	static const char *const words[] = { "rlimit", "cgroup1", "cgroup2" };
	const struct priv_host *host = &server->host;
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

struct value *method_status(struct call *call, struct value *store_status)
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
		value_list_add(arena, runtimes, runtime_describe(&server->pool.runtimes[i], arena));
	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++)
		if (server->outcomes[i])
			value_map_put(arena, outcomes, outcome_word((enum outcome)i),
				value_uint(arena, server->outcomes[i]));
	value_map_put(arena, map, "version", value_text(arena, CED_VERSION));
	value_map_put(arena, map, "pid", value_int(arena, getpid()));
	value_map_put(
		arena, map, "uptime_s", value_int(arena, (clock_ms() - server->started_ms) / 1000));
	value_map_put(arena, map, "ready", value_bool(arena, server->told_ready));
	value_map_put(arena, map, "draining", value_bool(arena, server->draining));
	value_map_put(arena, map, "drained", value_bool(arena, server->levers.drained));
	value_map_put(arena, map, "blocked", levers_describe_blocks(&server->levers, arena));
	value_map_put(arena, map, "mode",
		value_text(arena, server->host.mode == PRIV_MODE_ROOT ? "root" : "user"));
	value_map_put(arena, map, "connections", value_int(arena, server->ceilings.conns));
	value_map_put(arena, map, "socket", listener_describe(server->listener, arena));
	value_map_put(arena, map, "held_bytes", value_uint(arena, server->ceilings.bytes));
	value_map_put(arena, map, "in_house", value_int(arena, server_in_house(server)));
	value_map_put(arena, map, "parked", value_int(arena, server->approvals.count));
	value_map_put(arena, map, "subscriptions", value_int(arena, server->events.count));
	value_map_put(arena, map, "queued", value_int(arena, server->queue.count));
	value_map_put(arena, map, "runtimes", runtimes);
	value_map_put(arena, map, "inspectors", policies_status(server->policies, arena));
	value_map_put(arena, map, "outcomes", outcomes);
	value_map_put(arena, map, "commits", value_uint(arena, commits));
	value_map_put(arena, map, "records", value_uint(arena, records));
	trouble_describe(arena, server->recorder, map);
	trouble_describe_log(arena, server->recorder, map);
	value_map_put(arena, map, "host", describe_host(server, arena));
	value_map_put(arena, map, "roles", roles_describe(&server->config.roles, arena));
	value_map_put(arena, map, "allowances", allowances_describe(&server->config, arena));
	value_map_put(arena, map, "store", store_status);
	value_map_put(arena, map, "alerts", alerts_describe(&server->alerts, arena));
	value_map_put(arena, map, "gc", gc_describe(&server->gc, arena));
	value_map_put(arena, map, "check", checkup_describe(&server->checkup, arena));
	value_map_put(arena, map, "clock", wallclock_describe(&server->wallclock, arena));
	value_map_put(arena, map, "audit", audit_describe(&server->audit, arena));
	return map;
}
