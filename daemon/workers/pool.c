#include "daemon/workers/pool.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/policy/allowances.h"
#include "daemon/settings/config_egress.h"
#include "daemon/workers/runtime_orders.h"
#include "daemon/workers/worker.h"
#include "daemon/workers/zygote.h"
#include "proto/base/clock.h"

#define UPKEEP_MS                500
#define IDLE_MS                  60000 /* idle time after which slots of a burst are closed */
#define ZYGOTE_START_MS          60000 /* at first; doubled after each that never got ready */
#define ZYGOTE_START_DOUBLED_MAX 2

/* The least and the most slots of a runtime. */
static unsigned slots_least(const struct runtime *runtime)
{
	uint64_t own = runtime->config->workers_min;

	if (runtime->is_steady || runtime->is_networked)
		return 1;
	return (unsigned)(own ? own : runtime->pool->config->workers_min);
}

/* A newcomer may open the whole reserve.  Others may open one slot of it, which stays warm. */
static unsigned slots_most(const struct runtime *runtime, bool newcomer)
{
	const struct queue_shares *shares = &runtime->shares;

	return shares->most + (newcomer || !shares->reserve ? shares->reserve : 1);
}

/* Whether there is memory to open a slot.  Only the reserve depends on the host's free memory. */
static bool has_memory(const struct runtime *runtime)
{
	return runtime->wanted < runtime->shares.most ||
	       outer_cgroups_room(&runtime->pool->outer_cgroups) >= runtime->limits.memory_bytes;
}

void pool_grow(struct runtime *runtime, bool newcomer)
{
	runtime->starved_ms = clock_ms();
	if (list_is_empty(&runtime->zygotes) && !runtime->retry && !runtime->pool->closing) {
		zygote_start(runtime);
	} else if (runtime->wanted < slots_most(runtime, newcomer) && has_memory(runtime)) {
		runtime->wanted++;
		zygote_open_slots(runtime);
	}
}

struct worker *pool_take_ahead(struct runtime *runtime)
{
	struct list *first = list_first(&runtime->warm);
	struct worker *worker;

	if (!first)
		return NULL;
	worker = container_of(first, struct worker, ready_link);
	worker->zygote->runs++;
	runtime->taken_ms = clock_ms();
	return worker;
}

struct worker *pool_take(struct runtime *runtime)
{
	struct worker *worker = pool_take_ahead(runtime);

	runtime->runs += worker != NULL;
	return worker;
}

/*
 * Offers a warm worker to waiting runs again.  A run may get it now if no other user has come for a
 * while.
 */
static void tend_waiting(struct runtime *runtime)
{
	if (!runtime->shares.waiting)
		return;
	runtime->starved_ms = clock_ms();
	if (!list_is_empty(&runtime->warm))
		runtime->pool->on_warm(runtime->pool->context, runtime);
}

/* ---- upkeep --------------------------------------------------------------------------------- */

/* After a burst: closes one slot that is not in use, and lowers the wanted number by one. */
static void shrink(struct runtime *runtime)
{
	struct list *last = runtime->warm.prev;

	if (runtime->wanted <= slots_least(runtime) || list_is_empty(&runtime->warm) ||
		clock_ms() - runtime->starved_ms < IDLE_MS)
		return;
	runtime->wanted--;
	worker_let_go(container_of(last, struct worker, ready_link), "the pool no longer needs it");
}

/* For a runtime without a zygote.  In general retry_later() starts one, or none is needed. */
static void upkeep_without(struct runtime *runtime)
{
	if ((runtime->is_steady || runtime->is_networked) &&
		runtime->starved_ms > runtime->taken_ms && !runtime->retry)
		zygote_start(runtime);
}

/* Doubles the time after each failure.  With a fixed time, no zygote could start on a slow host. */
static int64_t start_ms(const struct runtime *runtime)
{
	unsigned doubled = runtime->failures;

	if (doubled > ZYGOTE_START_DOUBLED_MAX)
		doubled = ZYGOTE_START_DOUBLED_MAX;
	return (int64_t)ZYGOTE_START_MS << doubled;
}

static void upkeep_runtime(struct runtime *runtime)
{
	struct list *first = list_first(&runtime->zygotes);
	struct zygote *newest;

	if (!first) {
		upkeep_without(runtime);
		return;
	}
	newest = container_of(first, struct zygote, link);
	if (newest->state == ZYGOTE_READY && zygote_is_idle(newest))
		newest->state = ZYGOTE_RETIRING;
	if (newest->state == ZYGOTE_READY && zygote_is_worn(newest) && !runtime->retry)
		zygote_start(runtime);
	if (newest->state <= ZYGOTE_STARTING &&
		clock_ms() - newest->started_ms > start_ms(runtime)) {
		bool gets_more = runtime->failures < ZYGOTE_START_DOUBLED_MAX;

		zygote_lose(newest, "the zygote was not ready in time");
		runtime->is_slow = gets_more;
	}
	list_for_each(at, &runtime->zygotes)
		zygote_tend(container_of(at, struct zygote, link));
	tend_waiting(runtime);
	shrink(runtime);
	zygote_open_slots(runtime);
}

static void on_upkeep(void *owner)
{
	struct pool *pool = owner;

	outer_cgroups_look(&pool->outer_cgroups);
	for (unsigned i = 0; i < pool->all_count && !pool->closing; i++)
		upkeep_runtime(&pool->runtimes[i]);
}

bool pool_child_exited(struct pool *pool, uint32_t child, int status)
{
	for (unsigned i = 0; i < pool->all_count; i++)
		list_for_each(at, &pool->runtimes[i].zygotes) {
			struct zygote *zygote = container_of(at, struct zygote, link);
			char why[64];

			if (zygote->child != child)
				continue;
			cut_printf(why, sizeof(why), "the zygote ended (wait status %d)", status);
			zygote_lose(zygote, why);
			zygote->child = 0;
			return true;
		}
	return false;
}

/* Makes workers in slots that are empty because another slot's memory was reclaimed first. */
static void fill_empty(struct zygote *zygote)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		if (worker->state == WORKER_EMPTY)
			zygote_on_empty(zygote, worker);
	}
}

/* Makes the next worker, whatever memory is left: one slot's is not reclaimed twice. */
static void on_reclaimed(void *context, struct worker *worker)
{
	struct pool *pool = context;

	if (pool->closing)
		return;
	if (worker && worker->state == WORKER_EMPTY && worker->zygote->state == ZYGOTE_READY)
		worker_make(worker, &worker->zygote->runtime->limits);
	for (unsigned i = 0; i < pool->all_count; i++)
		list_for_each(at, &pool->runtimes[i].zygotes)
			fill_empty(container_of(at, struct zygote, link));
}

/* ---- the pool ------------------------------------------------------------------------------- */

/* Sets the limits that most runs of this runtime get, so that few workers need adjusting. */
static void set_limits(struct runtime *runtime)
{
	const struct config *config = runtime->pool->config;
	const struct job_bounds general = { .standard = config->limits, .most = config->most };
	const struct allowance_case what = { .runtime = runtime->config->name };
	struct job_bounds room;

	runtime->limits = allowances_bounds(config, &general, &what, &room)->standard;
}

static int configure_runtime(struct runtime *runtime, const char *harness_dir, struct err *err)
{
	struct priv_msg msg = { .op = PRIV_RUNTIME };
	struct err why = ERR_INIT;

	cut_printf(runtime->harness, sizeof(runtime->harness), "%s/%s", harness_dir,
		runtime_orders_folder(runtime->config));
	runtime_orders_write(runtime->config, runtime->is_steady, runtime->is_networked,
		runtime->harness, &msg.body.runtime);
	runtime_orders_add_sets(runtime->pool->config, runtime->config->name, &msg.body.runtime);
	if (spawner_ask_now(runtime->pool->spawner, &msg, &why) < 0)
		return err_set(err, why.code,
			"runtime %s: %s: correct its section, or write off = true in it",
			runtime->config->name, why.text);
	runtime->number = msg.id;
	return 0;
}

static struct queue_shares shares_of(
	const struct config *config, const struct config_runtime *runtime)
{
	unsigned most =
		(unsigned)(runtime->workers_max ? runtime->workers_max : config->workers_max);
	unsigned share = (unsigned)config->workers_per_caller;
	unsigned reserve = (unsigned)config->workers_reserve;

	if (!share)
		share = (most + 3) / 4; /* the default has four workers per processor */
	return (struct queue_shares){
		.most = most,
		.crowd_most = share < most ? share : most,
		.reserve = most + reserve > PRIV_SLOTS_MAX ? PRIV_SLOTS_MAX - most : reserve,
	};
}

static void settle_runtime(
	struct pool *pool, struct runtime *runtime, const struct config_runtime *config)
{
	runtime->pool = pool;
	runtime->config = config;
	runtime->wanted = slots_least(runtime);
	runtime->shares = shares_of(pool->config, config);
	list_init(&runtime->zygotes);
	list_init(&runtime->warm);
	set_limits(runtime);
}

/* Only where an interpreter runs before there is a job. */
static void settle_twin(struct pool *pool, struct runtime *runtime)
{
	struct runtime *twin = &pool->runtimes[pool->all_count];

	runtime->steady = runtime;
	if (runtime->config->kind != KIND_PYTHON)
		return;
	twin->is_steady = true;
	twin->steady = twin;
	settle_runtime(pool, twin, runtime->config);
	runtime->steady = twin;
	pool->all_count++;
}

/* Its workers have another filter and a network, so its zygotes are others. */
static void settle_networked(struct pool *pool, struct runtime *runtime)
{
	struct runtime *twin = &pool->runtimes[pool->all_count];

	if (!config_has_egress(pool->config))
		return;
	twin->is_networked = true;
	twin->steady = twin;
	twin->networked = twin;
	settle_runtime(pool, twin, runtime->config);
	runtime->networked = twin;
	pool->all_count++;
}

int pool_configure(struct pool *pool, const struct config *config, const struct priv_host *host,
	struct spawner_link *spawner, const char *harness_dir, struct err *err)
{
	memset(pool, 0, sizeof(*pool));
	pool->config = config;
	pool->spawner = spawner;
	pool->host = *host;
	pool->runtimes = calloc((size_t)3 * config->runtime_count, sizeof(*pool->runtimes));
	if (!pool->runtimes)
		return err_set(err, ERR_MEMORY, "no memory for the runtimes");
	pool->all_count = pool->runtime_count = config->runtime_count;
	for (unsigned i = 0; i < pool->runtime_count; i++)
		settle_runtime(pool, &pool->runtimes[i], &config->runtimes[i]);
	for (unsigned i = 0; i < pool->runtime_count; i++)
		settle_twin(pool, &pool->runtimes[i]);
	for (unsigned i = 0; i < pool->runtime_count; i++)
		settle_networked(pool, &pool->runtimes[i]);
	for (unsigned i = 0; i < pool->all_count; i++)
		if (configure_runtime(&pool->runtimes[i], harness_dir, err) < 0)
			return -1;
	return 0;
}

int pool_start(struct pool *pool, uv_loop_t *loop,
	void (*on_warm)(void *context, struct runtime *runtime), void *context, struct err *err)
{
	pool->loop = loop;
	outer_cgroups_open_own(&pool->outer_cgroups);
	pool->reclaim = (struct reclaim){ .loop = loop, .on_done = on_reclaimed, .context = pool };
	pool->on_warm = on_warm;
	pool->context = context;
	pool->upkeep = timer_new(loop, UPKEEP_MS, UPKEEP_MS, on_upkeep, pool);
	if (!pool->upkeep)
		return err_set(err, ERR_MEMORY, "no memory for the pool's upkeep");
	for (unsigned i = 0; i < pool->runtime_count; i++)
		zygote_start(&pool->runtimes[i]);
	if (package_sets_start(&pool->packages, loop, pool->config, err) < 0)
		return -1;
	return 0; /* the first deterministic run starts a twin */
}

struct runtime *pool_find(struct pool *pool, const char *name)
{
	for (unsigned i = 0; i < pool->runtime_count; i++)
		if (!strcmp(pool->runtimes[i].config->name, name))
			return &pool->runtimes[i];
	return NULL;
}

void pool_stop(struct pool *pool)
{
	pool->closing = true;
	for (unsigned i = 0; i < pool->all_count; i++)
		list_for_each(at, &pool->runtimes[i].zygotes)
			zygote_lose(container_of(at, struct zygote, link), "the daemon is closing");
}

void pool_close(struct pool *pool)
{
	pool->closing = true;
	timer_close(pool->upkeep);
	outer_cgroups_close(&pool->outer_cgroups);
	package_sets_close(&pool->packages);
	for (unsigned i = 0; i < pool->all_count; i++) {
		timer_close(pool->runtimes[i].retry);
		list_for_each(at, &pool->runtimes[i].zygotes)
			zygote_free(container_of(at, struct zygote, link));
	}
	free(pool->runtimes);
	pool->runtimes = NULL;
	pool->all_count = 0;
}
