#include "daemon/runs/canary.h"

#include "daemon/runs/outcome.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define WALL_LEAST  1000 /* ms: the shortest time limit of an empty program */

/* Every interpreter runs it and prints nothing. */
static const char empty_program[] = "\n";

/* Returns the next runtime in turn that can spare a worker, or NULL. */
static struct runtime *find_runtime(struct canary *canary)
{
	struct pool *pool = canary->pool;

	for (unsigned i = 0; i < pool->runtime_count; i++) {
		struct runtime *runtime = &pool->runtimes[(canary->next + i) % pool->runtime_count];

		if (list_is_empty(&runtime->warm) || runtime->shares.waiting)
			continue;
		canary->next = (canary->next + i + 1) % pool->runtime_count;
		return runtime;
	}
	return NULL;
}

/* Whether runs have workers, so that having no other is no fault. */
static bool has_runs(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->all_count; i++)
		if (pool->runtimes[i].shares.running)
			return true;
	return false;
}

/* ---- one canary ----------------------------------------------------------------------------- */

static void note_failure(struct canary *canary, const struct job_result *result)
{
	canary->failed++;
	cut_printf(canary->trouble, sizeof(canary->trouble),
		"an empty program in %s ended as %s: %s", canary->runtime,
		outcome_word(result->outcome), result->reason ? result->reason : "");
	log_event(LOG_LEVEL_WARNING, "canary.failed", LOG_STR("runtime", canary->runtime),
		LOG_STR("outcome", outcome_word(result->outcome)),
		LOG_STR("reason", result->reason ? result->reason : ""));
}

/* The execution's buffers stay until the next one: it is the caller. */
static void on_canary_end(struct execution *execution)
{
	struct canary *canary = execution->owner;
	struct job_result result = { .outcome = OUTCOME_NONE };

	outcome_decide(&canary->arena, &canary->spec.limits, &execution->facts, &result);
	execution_release(execution);
	canary->out = false;
	if (canary->closing)
		return;
	if (result.outcome != OUTCOME_OK) {
		note_failure(canary, &result);
		return;
	}
	canary->ended_well++;
	canary->trouble[0] = '\0';
	canary->on_alive();
}

static void forget_last(struct canary *canary)
{
	if (!canary->runtime)
		return;
	execution_done(&canary->execution);
	arena_done(&canary->arena);
	canary->runtime = NULL;
}

static void send_out(struct canary *canary, struct runtime *runtime)
{
	const struct config_runtime *config = runtime->config;
	struct worker *worker = pool_take_ahead(runtime);

	forget_last(canary);
	arena_init(&canary->arena, ARENA_BYTES);
	canary->runtime = config->name;
	canary->spec = (struct job_spec){ .language = runtime_language(runtime),
		.code = { empty_program, sizeof(empty_program) - 1 },
		.entrypoint = config->file[0] ? config->file : "main",
		.limits = worker->made_with,
		.trace = TRACE_OFF };
	/* A host that is only slow is not made faster by a restart. */
	canary->spec.limits.wall_ms = 2 * canary->every_ms;
	if (canary->spec.limits.wall_ms < WALL_LEAST)
		canary->spec.limits.wall_ms = WALL_LEAST;
	canary->execution = (struct execution){ .loop = canary->pool->loop,
		.spec = &canary->spec,
		.arena = &canary->arena,
		.outer_cgroups = &canary->pool->outer_cgroups,
		.stdin_inline = runtime_reads_stdin_inline(runtime),
		.on_end = on_canary_end,
		.owner = canary };
	canary->out = true;
	execution_start(&canary->execution, worker);
}

static void on_canary_due(void *owner)
{
	struct canary *canary = owner;
	struct runtime *runtime;

	if (canary->out)
		return; /* its time limit ends it */
	runtime = find_runtime(canary);
	if (runtime)
		send_out(canary, runtime);
	else if (has_runs(canary->pool))
		canary->on_alive();
}

/* ---- life ----------------------------------------------------------------------------------- */

int canary_start(struct canary *canary, struct pool *pool, uint64_t every_ms,
	void (*on_alive)(void), struct err *err)
{
	*canary = (struct canary){ .pool = pool, .every_ms = every_ms, .on_alive = on_alive };
	canary->timer = timer_new(pool->loop, every_ms, every_ms, on_canary_due, canary);
	return canary->timer ? 0 : err_set(err, ERR_MEMORY, "no memory for the watchdog");
}

struct value *canary_describe(const struct canary *canary, struct arena *arena)
{
	struct fill map = fill_start(arena);

	if (!canary->pool)
		return NULL;
	fill_uint(&map, "ended_well", canary->ended_well);
	fill_uint(&map, "failed", canary->failed);
	fill_value(&map, "trouble", value_text(arena, canary->trouble[0] ? canary->trouble : NULL));
	return fill_done(&map);
}

void canary_stop(struct canary *canary)
{
	canary->closing = true;
	timer_close(canary->timer);
	canary->timer = NULL;
}

void canary_close(struct canary *canary)
{
	forget_last(canary);
}
