/* admin.status: the state of the daemon and its parts.  health and admin.metrics are made from it, too. */
#include <unistd.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/listener.h"
#include "daemon/loop/service_manager.h"
#include "daemon/methods/admin_ops.h"
#include "daemon/methods/methods.h"
#include "daemon/methods/reload.h"
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
#include "daemon/runs/canary.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "daemon/workers/egress_link.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "proto/fill.h"
#include "proto/version.h"

/* Messages that were dropped because nobody read them. */
static struct value *describe_messages(struct arena *arena)
{
	struct fill map = fill_start(arena);

	fill_uint(&map, "log_dropped", log_dropped());
	fill_uint(&map, "journal_dropped", host_journal_dropped());
	return fill_done(&map);
}

/* {memory, pids, cpu, landlock_abi, why_not, missing}: which protections this host supports. */
static struct value *describe_host(const struct services *services, struct arena *arena)
{
	static const char *const words[] = { "rlimit", "cgroup1", "cgroup2" };
	const struct priv_host *host = services->host;
	struct fill map = fill_start(arena);

	fill_text(&map, "memory", words[host->memory % 3]);
	fill_text(&map, "pids", words[host->pids % 3]);
	fill_text(&map, "cpu", words[host->cpu % 3]);
	fill_int(&map, "landlock_abi", host->landlock_abi > 0 ? host->landlock_abi : 0);
	fill_value(&map, "why_not", value_text(arena, host->why_not[0] ? host->why_not : NULL));
	fill_value(&map, "missing", layers_missing(host, arena));
	return fill_done(&map);
}

/* {ready, trouble}: the process that makes the connections of runs. */
static struct value *describe_egress(const struct services *services, struct arena *arena)
{
	const char *trouble = egress_link_trouble(services->egress);
	struct fill map = fill_start(arena);

	fill_bool(&map, "ready", !trouble);
	fill_value(&map, "trouble", value_text(arena, trouble));
	return fill_done(&map);
}

static struct value *describe_runtimes(const struct pool *pool, struct arena *arena)
{
	struct value *runtimes = value_list(arena);

	for (unsigned i = 0; i < pool->runtime_count; i++)
		value_list_add(arena, runtimes, runtime_describe(&pool->runtimes[i], arena));
	return runtimes;
}

/* How many runs ended in each way. */
static struct value *describe_outcomes(const struct daemon_state *state, struct arena *arena)
{
	struct value *outcomes = value_map(arena);

	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++)
		if (state->outcomes[i])
			value_map_put(arena, outcomes, outcome_word((enum outcome)i),
				value_uint(arena, state->outcomes[i]));
	return outcomes;
}

struct value *status_describe(
	const struct services *services, struct value *store_status, struct arena *arena)
{
	struct fill map = fill_start(arena);
	uint64_t commits = 0;
	uint64_t records = 0;

	recorder_counts(services->recorder, &commits, &records);
	fill_text(&map, "version", CED_VERSION);
	fill_int(&map, "pid", getpid());
	fill_int(&map, "uptime_s", (clock_ms() - services->state->started_ms) / 1000);
	fill_bool(&map, "ready", services->state->ready);
	fill_bool(&map, "draining", services->state->draining);
	fill_bool(&map, "drained", services->admin_ops->drained);
	fill_value(&map, "blocked", admin_ops_describe_blocks(services->admin_ops, arena));
	fill_text(&map, "mode", services->host->mode == PRIV_MODE_ROOT ? "root" : "user");
	fill_int(&map, "connections", services->ceilings->conns);
	fill_value(&map, "socket", listener_describe(services->listener, arena));
	fill_uint(&map, "held_bytes", services->ceilings->bytes);
	fill_int(&map, "in_progress",
		(int64_t)registry_count(services->runs) - services->approvals->count);
	fill_int(&map, "parked", services->approvals->count);
	fill_uint(&map, "sessions", sessions_count(services->sessions));
	fill_int(&map, "subscriptions", services->events->count);
	fill_int(&map, "queued", queue_count(services->queue));
	fill_value(&map, "runtimes", describe_runtimes(services->pool, arena));
	if (services->canary->pool)
		fill_value(&map, "canary", canary_describe(services->canary, arena));
	if (services->pool->packages.count)
		fill_value(&map, "packages",
			package_sets_describe(&services->pool->packages, NULL, arena));
	fill_value(&map, "inspectors", policies_status(services->policies, arena));
	if (services->egress)
		fill_value(&map, "egress", describe_egress(services, arena));
	fill_value(&map, "messages", describe_messages(arena));
	fill_value(&map, "outcomes", describe_outcomes(services->state, arena));
	fill_uint(&map, "commits", commits);
	fill_uint(&map, "records", records);
	store_failure_describe(arena, services->recorder, map.map);
	store_failure_describe_log(arena, services->recorder, map.map);
	fill_value(&map, "host", describe_host(services, arena));
	fill_value(&map, "roles", roles_describe(&services->config->roles, arena));
	fill_value(&map, "allowances", allowances_describe(services->config, arena));
	if (store_status)
		fill_value(&map, "store", store_status);
	fill_value(&map, "alerts", alerts_describe(services->alerts, arena));
	fill_value(&map, "gc", gc_describe(services->gc, arena));
	fill_value(&map, "check", page_check_describe(services->page_check, arena));
	fill_value(&map, "clock", wallclock_describe(services->wallclock, arena));
	fill_value(&map, "audit", audit_describe(services->audit, arena));
	fill_value(&map, "reload", reload_describe(services->reload, arena));
	return fill_done(&map);
}

void method_status_found(struct call *call, struct value *store_status)
{
	call_result(call, status_describe(call->services, store_status, &call->arena));
}

/*
 * It answers also when the store cannot be read, because it is needed most then.  While the disk
 * stalls it does not try: a thread would wait for the disk.
 */
static void ask_status(struct call *call, void (*finish)(struct call *call, struct value *status))
{
	const struct err *stall = recorder_stall(call->services->recorder);

	call->store_is_optional = true;
	if (stall)
		finish(call, store_unreadable(&call->arena, stall));
	else
		method_from_store(call);
}

void method_status(struct call *call)
{
	ask_status(call, method_status_found);
}

void method_health(struct call *call)
{
	ask_status(call, method_health_found);
}

void method_metrics(struct call *call)
{
	ask_status(call, method_metrics_found);
}
