#include "daemon/pool.h"

#include <string.h>
#include <sys/socket.h>

#include "daemon/allowances.h"
#include "daemon/fingerprint.h"
#include "daemon/runtime_orders.h"
#include "daemon/worker.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

#define UPKEEP_MS       500
#define RETRY_MS        200 /* after the first failure; doubled each time */
#define RETRY_MS_MAX    30000
#define IDLE_MS         60000  /* then what was opened for a burst is closed */
#define STEADY_IDLE_MS  300000 /* then a zygote that was started on demand leaves */
#define MISSES_MAX      3      /* makings that may fail in a row before a slot is given up */
#define VISIT_MESSAGES  16     /* from one zygote in one turn of the loop */
#define ZYGOTE_START_MS 20000

enum zygote_state {
	ZYGOTE_ASKED,
	ZYGOTE_STARTING,
	ZYGOTE_READY,
	ZYGOTE_RETIRING,
	ZYGOTE_GONE
};

struct zygote {
	struct list link;
	struct runtime *runtime;
	enum zygote_state state;
	uint32_t child; /* with the spawner */
	struct watch *control;
	int early_sock; /* our end, until the spawner has answered */
	struct list workers;
	uint32_t opened;  /* bitmap would do; indexes are given once, never again */
	uint32_t opening; /* asked of the spawner, not answered yet */
	uint64_t runs;
	int64_t started_ms;
};

static void zygote_start(struct runtime *runtime);
static void keep_floor(struct runtime *runtime);

static struct zygote *zygote_in_use(const struct runtime *runtime)
{
	struct list *first = list_first(&runtime->zygotes);
	struct zygote *zygote = first ? container_of(first, struct zygote, link) : NULL;

	return zygote && zygote->state == ZYGOTE_READY ? zygote : NULL;
}

uv_loop_t *zygote_loop(struct zygote *zygote)
{
	return zygote->runtime->pool->loop;
}

struct runtime *zygote_runtime(struct zygote *zygote)
{
	return zygote->runtime;
}

/* How many slots a runtime has at least, and at most. */
static unsigned slots_least(const struct runtime *runtime)
{
	uint64_t own = runtime->config->workers_min;

	if (runtime->is_steady)
		return 1;
	return (unsigned)(own ? own : runtime->pool->config->workers_min);
}

static unsigned slots_most(const struct runtime *runtime)
{
	uint64_t own = runtime->config->workers_max;

	return (unsigned)(own ? own : runtime->pool->config->workers_max);
}

static unsigned count_state(const struct runtime *runtime, enum worker_state state)
{
	unsigned count = 0;

	list_for_each(zygote_at, &runtime->zygotes) {
		struct zygote *zygote = container_of(zygote_at, struct zygote, link);

		list_for_each(at, &zygote->workers)
			count += container_of(at, struct worker, link)->state == state;
	}
	return count;
}

/* Slots of the zygote in use that are or will be there. */
static unsigned slots_alive(const struct zygote *zygote)
{
	unsigned count = zygote->opening;

	list_for_each(at, &zygote->workers)
		count += container_of(at, struct worker, link)->state != WORKER_GONE;
	return count;
}

/* ---- slots ---------------------------------------------------------------------------------- */

struct slot_question {
	struct zygote *zygote;
	uint32_t index;
};

static int open_slot(struct zygote *zygote, uint32_t index, struct knobs *knobs, struct err *err)
{
	struct lease_msg msg = lease_msg_of(LEASE_SLOT_OPEN);
	int ends[2];
	int fds[1 + LEASE_JOIN_FDS_MAX];
	struct worker *worker;
	int result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "a socket for a slot");
	if (fd_set_nonblocking(ends[0], true, err) < 0) {
		close_fds(ends, 2);
		return -1;
	}
	fds[0] = ends[1];
	for (unsigned i = 0; i < knobs->join_count; i++)
		fds[1 + i] = knobs->join[i];
	msg.slot = index;
	result = lease_send(watch_fd(zygote->control), &msg, fds, 1 + knobs->join_count, err);
	close(ends[1]);
	if (result < 0) {
		close(ends[0]);
		return -1;
	}
	worker = worker_new(zygote, index, ends[0], knobs);
	if (!worker)
		return err_set(err, ERR_MEMORY, "no memory for a slot");
	list_append(&zygote->workers, &worker->link);
	return 0;
}

/* The required layer that a slot's cgroup does not hold although the host had it, or NULL. */
static const char *unkept(const struct pool *pool, const struct knobs *knobs)
{
	static const struct {
		enum layer layer;
		enum priv_knob knob;
	} kept[] = {
		{ LAYER_MEMORY, KNOB_MEMORY_MAX },
		{ LAYER_PIDS, KNOB_PIDS_MAX },
		{ LAYER_CPU, KNOB_CPU_USAGE },
	};

	for (size_t i = 0; i < COUNT_OF(kept); i++)
		if (layer_is_required(kept[i].layer, &pool->config->layers, &pool->host) &&
			!knobs_hold(knobs, kept[i].knob))
			return layer_word(kept[i].layer);
	return NULL;
}

/* The zygote may have gone since the question was asked; its memory waits for the answer. */
static void on_slot_knobs(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct slot_question *question = context;
	struct zygote *zygote = question->zygote;
	struct err err = ERR_INIT;
	struct knobs knobs;

	zygote->opening--;
	knobs_init(&knobs);
	if (msg->error || zygote->state != ZYGOTE_READY) {
		close_fds(fds, fd_count);
		if (msg->error)
			log_event(LOG_LEVEL_WARNING, "slot.no_cgroup", LOG_STR("why", msg->text));
	} else if (knobs_take(&knobs, &msg->body.knobs, fds, fd_count) < 0) {
		log_event(LOG_LEVEL_WARNING, "slot.odd_knobs");
	} else if (unkept(zygote->runtime->pool, &knobs)) {
		log_event(LOG_LEVEL_ERROR, "slot.odd_knobs",
			LOG_STR("missing", unkept(zygote->runtime->pool, &knobs)));
	} else if (open_slot(zygote, question->index, &knobs, &err) < 0) {
		log_event(LOG_LEVEL_WARNING, "slot.not_opened", LOG_STR("why", err.text));
	}
	knobs_done(&knobs);
	free(question);
}

/* False: no memory; the next upkeep tries again. */
static bool ask_slot(struct zygote *zygote)
{
	struct slot_question *question = calloc(1, sizeof(*question));
	struct priv_msg msg = { .op = PRIV_SLOT };

	if (!question)
		return false;
	question->zygote = zygote;
	question->index = zygote->opened++;
	zygote->opening++;
	msg.body.slot.zygote = zygote->child;
	msg.body.slot.slot = question->index;
	spawner_ask(zygote->runtime->pool->spawner, &msg, NULL, 0, on_slot_knobs, question);
	return true;
}

/* ---- what workers tell ---------------------------------------------------------------------- */

void zygote_on_warm(struct zygote *zygote, struct worker *worker)
{
	struct runtime *runtime = zygote->runtime;

	list_append(&runtime->warm, &worker->ready_link);
	if (!runtime->pool->closing)
		runtime->pool->on_warm(runtime->pool->context, runtime);
}

void zygote_on_empty(struct zygote *zygote, struct worker *worker)
{
	if (zygote->state != ZYGOTE_READY || zygote->runtime->pool->closing)
		return; /* upkeep lets a retiring zygote go */
	if (worker->misses >= MISSES_MAX)
		worker_lose(worker, "no worker can be made in it");
	else if (!residue_take_back(&zygote->runtime->pool->residue, worker))
		worker_make(worker, &zygote->runtime->limits);
}

/* Slots that are empty because another's residue had to go first. */
static void fill_empty(struct zygote *zygote)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		if (worker->state == WORKER_EMPTY)
			zygote_on_empty(zygote, worker);
	}
}

/* Whatever is left now stays: this one is not tried again. */
static void on_residue_gone(void *context, struct worker *worker)
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

void zygote_on_slot_lost(struct zygote *zygote, struct worker *worker)
{
	(void)zygote; /* the next upkeep frees the worker and opens another slot */
	(void)worker;
}

struct worker *pool_take(struct runtime *runtime)
{
	struct list *first = list_first(&runtime->warm);
	struct worker *worker;

	if (first) {
		worker = container_of(first, struct worker, ready_link);
		worker->zygote->runs++;
		runtime->runs++;
		runtime->taken_ms = clock_ms();
		return worker;
	}
	runtime->starved_ms = clock_ms();
	if (list_is_empty(&runtime->zygotes) && !runtime->retry && !runtime->pool->closing) {
		zygote_start(runtime);
	} else if (runtime->wanted < slots_most(runtime)) {
		runtime->wanted++;
		keep_floor(runtime);
	}
	return NULL;
}

/* ---- a zygote's life ------------------------------------------------------------------------ */

static void close_worker(struct zygote *zygote, struct worker *worker)
{
	residue_forget(&zygote->runtime->pool->residue, worker);
	worker_close(worker);
}

static void zygote_free(struct zygote *zygote)
{
	list_remove(&zygote->link);
	list_for_each(at, &zygote->workers)
		close_worker(zygote, container_of(at, struct worker, link));
	watch_close(zygote->control);
	if (zygote->early_sock >= 0)
		close(zygote->early_sock);
	free(zygote);
}

static void zygote_kill(struct zygote *zygote)
{
	struct priv_msg msg = { .op = PRIV_KILL, .id = zygote->child };

	if (zygote->child)
		spawner_ask(zygote->runtime->pool->spawner, &msg, NULL, 0, NULL, NULL);
}

static void on_retry(void *owner)
{
	struct runtime *runtime = owner;

	timer_close(runtime->retry);
	runtime->retry = NULL;
	zygote_start(runtime);
}

/* A zygote that never got ready: wait before the next, longer each time. */
static void retry_later(struct runtime *runtime, const char *why)
{
	uint64_t wait_ms = RETRY_MS;

	cut_printf(runtime->trouble, sizeof(runtime->trouble), "%s", why);
	log_event(LOG_LEVEL_ERROR, "zygote.failed", LOG_STR("runtime", runtime->config->name),
		LOG_STR("why", why));
	for (unsigned i = 0; i < runtime->failures && wait_ms < RETRY_MS_MAX; i++)
		wait_ms *= 2;
	runtime->failures++;
	if (!runtime->retry && !runtime->pool->closing)
		runtime->retry = timer_new(runtime->pool->loop, wait_ms, 0, on_retry, runtime);
}

/* What it held is lost; runs in it are told; its memory goes with the next upkeep. */
static void zygote_lose(struct zygote *zygote, const char *why)
{
	struct runtime *runtime = zygote->runtime;
	bool was_retiring = zygote->state == ZYGOTE_RETIRING;
	bool was_ready = zygote->state == ZYGOTE_READY;

	if (zygote->state == ZYGOTE_GONE)
		return;
	zygote->state = ZYGOTE_GONE;
	zygote_kill(zygote);
	watch_close(zygote->control);
	zygote->control = NULL;
	list_for_each(at, &zygote->workers)
		worker_lose(container_of(at, struct worker, link), why);
	if (was_retiring || runtime->pool->closing)
		return;
	if (runtime->is_steady && was_ready)
		return; /* the next run that wants one starts one */
	if (!was_ready)
		retry_later(runtime, why);
	else
		zygote_start(runtime);
}

static void zygote_ready(struct zygote *zygote, const char *version)
{
	struct runtime *runtime = zygote->runtime;

	zygote->state = ZYGOTE_READY;
	runtime->failures = 0;
	runtime->trouble[0] = '\0';
	cut_printf(runtime->version, sizeof(runtime->version), "%s", version);
	log_event(LOG_LEVEL_INFO, "zygote.ready", LOG_STR("runtime", runtime->config->name),
		LOG_STR("version", version), LOG_INT("child", zygote->child),
		LOG_INT("ms", clock_ms() - zygote->started_ms));
	list_for_each(at, &runtime->zygotes) {
		struct zygote *other = container_of(at, struct zygote, link);

		if (other != zygote && other->state == ZYGOTE_READY)
			other->state = ZYGOTE_RETIRING;
	}
	keep_floor(runtime);
}

static struct worker *worker_of(struct zygote *zygote, uint32_t index)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		if (worker->index == index)
			return worker;
	}
	return NULL;
}

static void on_zygote_message(struct zygote *zygote, const struct lease_msg *msg)
{
	struct worker *worker = worker_of(zygote, msg->slot);

	if (msg->kind == LEASE_ZYGOTE_READY && zygote->state == ZYGOTE_STARTING) {
		zygote_ready(zygote, msg->text);
		return;
	}
	if (!worker || worker->state == WORKER_GONE)
		return;
	if (msg->kind == LEASE_SLOT_OPENED && worker->state == WORKER_OPENING) {
		worker_opened(worker);
		zygote_on_empty(zygote, worker);
	} else if (msg->kind == LEASE_SLOT_FAILED) {
		worker_lose(worker, msg->text);
	} else if (msg->kind == LEASE_SLOT_GONE) {
		worker_lose(worker, "its process ended");
	}
}

static void on_control(void *owner, int events)
{
	struct zygote *zygote = owner;

	(void)events;
	for (int messages = 0; messages < VISIT_MESSAGES && zygote->control; messages++) {
		struct lease_msg msg;
		int fds[1 + LEASE_JOIN_FDS_MAX];
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = lease_recv(watch_fd(zygote->control), &msg, fds, &count, &err);

		if (got < 0 && err.code == ERR_BUSY)
			return;
		if (got <= 0) {
			zygote_lose(zygote, got < 0 ? err.text : "the zygote has gone");
			return;
		}
		close_fds(fds, count);
		on_zygote_message(zygote, &msg);
	}
}

static void on_zygote_answer(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct zygote *zygote = context;
	uv_loop_t *loop = zygote->runtime->pool->loop;
	auto_fd int sock = take_fd(&zygote->early_sock); /* bury() waits for this answer no more */

	close_fds(
		fds, fd_count); /* its end is told by EXITED; the pidfd is for those who want it */
	if (msg->error) {
		zygote_lose(zygote, msg->text);
		return;
	}
	zygote->child = msg->id;
	if (zygote->state == ZYGOTE_GONE) {
		zygote_kill(zygote);
		return;
	}
	zygote->state = ZYGOTE_STARTING;
	zygote->control = watch_new(loop, take_fd(&sock), UV_READABLE, on_control, zygote);
	if (!zygote->control)
		zygote_lose(zygote, "no memory to watch it");
}

/* ---- what it is made of --------------------------------------------------------------------- */

/* The configuration and the pool outlive every thread; a runtime may have gone when it comes back. */
struct taking {
	struct pool *pool;
	const struct config_runtime *config; /* a twin's is its brother's */
	unsigned index;
	char harness[CONFIG_TEXT_MAX];
	char digest[DIGEST_TEXT_LEN + 1];
	struct err err;
};

static void take_fingerprint(void *context)
{
	struct taking *taking = context;

	if (fingerprint_runtime(taking->config, taking->harness, taking->digest, &taking->err) < 0)
		taking->digest[0] = '\0';
}

static void on_fingerprint(void *context)
{
	struct taking *taking = context;
	const struct pool *pool = taking->pool;

	if (!taking->digest[0])
		log_event(LOG_LEVEL_WARNING, "runtime.no_digest", LOG_STR("why", taking->err.text));
	if (taking->index < pool->all_count)
		cut_printf(pool->runtimes[taking->index].digest, sizeof(pool->runtimes[0].digest),
			"%s", taking->digest);
	free(taking);
}

/* Of what the zygote that is being started will be. */
static void start_fingerprint(const struct runtime *runtime)
{
	struct taking *taking = calloc(1, sizeof(*taking));

	if (!taking)
		return; /* results go without until the next zygote */
	taking->pool = runtime->pool;
	taking->config = runtime->config;
	taking->index = (unsigned)(runtime - runtime->pool->runtimes);
	memcpy(taking->harness, runtime->harness, sizeof(taking->harness));
	if (work_start(runtime->pool->loop, take_fingerprint, on_fingerprint, taking) < 0)
		free(taking);
}

static void zygote_start(struct runtime *runtime)
{
	struct zygote *zygote = calloc(1, sizeof(*zygote));
	struct priv_msg msg = { .op = PRIV_ZYGOTE };
	struct err err = ERR_INIT;
	int ends[2];

	if (!zygote || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		free(zygote);
		retry_later(runtime, "no memory or no socket for a zygote");
		return;
	}
	(void)fd_set_nonblocking(ends[0], true, &err);
	zygote->runtime = runtime;
	zygote->state = ZYGOTE_ASKED;
	zygote->early_sock = ends[0];
	zygote->started_ms = clock_ms();
	list_init(&zygote->workers);
	list_prepend(&runtime->zygotes, &zygote->link);
	start_fingerprint(runtime);
	msg.body.zygote.runtime = runtime->number;
	msg.body.zygote.slots = PRIV_SLOTS_MAX;
	spawner_ask(runtime->pool->spawner, &msg, &ends[1], 1, on_zygote_answer, zygote);
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

/* ---- upkeep --------------------------------------------------------------------------------- */

/* Opens slots until as many are there as are wanted; a zygote out of indexes is replaced. */
static void keep_floor(struct runtime *runtime)
{
	struct zygote *zygote = zygote_in_use(runtime);

	if (!zygote || runtime->pool->closing)
		return;
	while (slots_alive(zygote) < runtime->wanted && zygote->opened < PRIV_SLOTS_MAX)
		if (!ask_slot(zygote))
			return;
}

static bool is_busy(const struct zygote *zygote)
{
	if (zygote->opening)
		return true;
	list_for_each(at, &zygote->workers) {
		const struct worker *worker = container_of(at, struct worker, link);

		if (worker->execution || worker->state == WORKER_ENDING)
			return true;
	}
	return false;
}

/* What is warm ends now, what runs ends when it is done, and then the zygote. */
static void retire(struct zygote *zygote)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		if (worker->state == WORKER_WARM)
			worker_release(worker);
	}
	if (!is_busy(zygote))
		zygote_lose(zygote, "replaced");
}

static void bury(struct zygote *zygote)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		if (worker_is_stuck(worker) && worker->state == WORKER_OPENING)
			zygote_lose(zygote, "it opens no slots"); /* loses the worker as well */
		else if (worker_is_stuck(worker))
			worker_lose(worker, "it has been silent for too long");
		if (worker->state == WORKER_GONE)
			close_worker(zygote, worker);
	}
	if (zygote->state == ZYGOTE_RETIRING)
		retire(zygote);
	if (zygote->state == ZYGOTE_GONE && !zygote->opening && zygote->early_sock < 0)
		zygote_free(zygote);
}

/* A burst is over: close one slot that waits, and want one fewer. */
static void shrink(struct runtime *runtime)
{
	struct list *last = runtime->warm.prev;

	if (runtime->wanted <= slots_least(runtime) || list_is_empty(&runtime->warm) ||
		clock_ms() - runtime->starved_ms < IDLE_MS)
		return;
	runtime->wanted--;
	worker_lose(container_of(last, struct worker, ready_link), "no longer needed");
}

static bool is_worn(const struct zygote *zygote)
{
	const struct config *config = zygote->runtime->pool->config;
	bool out_of_slots =
		zygote->opened == PRIV_SLOTS_MAX && slots_alive(zygote) < zygote->runtime->wanted;

	return out_of_slots || zygote->runs >= config->zygote_runs ||
	       clock_ms() - zygote->started_ms >= (int64_t)config->zygote_age_s * 1000;
}

/* Came on demand, and there is none any more. */
static bool is_idle(const struct zygote *zygote)
{
	const struct runtime *runtime = zygote->runtime;

	return runtime->is_steady && !is_busy(zygote) &&
	       clock_ms() - zygote->started_ms > STEADY_IDLE_MS &&
	       clock_ms() - runtime->taken_ms > STEADY_IDLE_MS;
}

/* Another zygote is being waited for (retry_later()), or none is needed. */
static void upkeep_without(struct runtime *runtime)
{
	if (runtime->is_steady && runtime->starved_ms > runtime->taken_ms && !runtime->retry)
		zygote_start(runtime);
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
	if (newest->state == ZYGOTE_READY && is_idle(newest))
		newest->state = ZYGOTE_RETIRING;
	if (newest->state == ZYGOTE_READY && is_worn(newest) && !runtime->retry)
		zygote_start(runtime);
	if (newest->state <= ZYGOTE_STARTING && clock_ms() - newest->started_ms > ZYGOTE_START_MS)
		zygote_lose(newest, "it did not get ready in time");
	list_for_each(at, &runtime->zygotes)
		bury(container_of(at, struct zygote, link));
	shrink(runtime);
	keep_floor(runtime);
}

static void on_upkeep(void *owner)
{
	struct pool *pool = owner;

	for (unsigned i = 0; i < pool->all_count && !pool->closing; i++)
		upkeep_runtime(&pool->runtimes[i]);
}

/* ---- the pool ------------------------------------------------------------------------------- */

/* What most of its runs will get, so that few of its workers must be adjusted. */
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

	cut_printf(runtime->harness, sizeof(runtime->harness), "%s/%s", harness_dir,
		runtime_orders_folder(runtime->config));
	runtime_orders_write(
		runtime->config, runtime->is_steady, runtime->harness, &msg.body.runtime);
	if (spawner_ask_now(runtime->pool->spawner, &msg, err) < 0)
		return err_wrap(err, "runtime %s", runtime->config->name);
	runtime->number = msg.id;
	return 0;
}

static void settle_runtime(
	struct pool *pool, struct runtime *runtime, const struct config_runtime *config)
{
	runtime->pool = pool;
	runtime->config = config;
	runtime->wanted = slots_least(runtime);
	list_init(&runtime->zygotes);
	list_init(&runtime->warm);
	set_limits(runtime);
}

/* Only where an interpreter is up before there is a job. */
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

int pool_configure(struct pool *pool, const struct config *config, const struct priv_host *host,
	struct spawner_link *spawner, const char *harness_dir, struct err *err)
{
	memset(pool, 0, sizeof(*pool));
	pool->config = config;
	pool->spawner = spawner;
	pool->host = *host;
	pool->runtimes = calloc((size_t)2 * config->runtime_count, sizeof(*pool->runtimes));
	if (!pool->runtimes)
		return err_set(err, ERR_MEMORY, "no memory for the runtimes");
	pool->all_count = pool->runtime_count = config->runtime_count;
	for (unsigned i = 0; i < pool->runtime_count; i++)
		settle_runtime(pool, &pool->runtimes[i], &config->runtimes[i]);
	for (unsigned i = 0; i < pool->runtime_count; i++)
		settle_twin(pool, &pool->runtimes[i]);
	for (unsigned i = 0; i < pool->all_count; i++)
		if (configure_runtime(&pool->runtimes[i], harness_dir, err) < 0)
			return -1;
	return 0;
}

int pool_start(struct pool *pool, uv_loop_t *loop,
	void (*on_warm)(void *context, struct runtime *runtime), void *context, struct err *err)
{
	pool->loop = loop;
	pool->residue =
		(struct residue){ .loop = loop, .on_done = on_residue_gone, .context = pool };
	pool->on_warm = on_warm;
	pool->context = context;
	pool->upkeep = timer_new(loop, UPKEEP_MS, UPKEEP_MS, on_upkeep, pool);
	if (!pool->upkeep)
		return err_set(err, ERR_MEMORY, "no memory for the pool's upkeep");
	for (unsigned i = 0; i < pool->runtime_count; i++)
		zygote_start(&pool->runtimes[i]);
	return 0; /* twins wait for their first run */
}

struct runtime *pool_find(struct pool *pool, const char *name)
{
	for (unsigned i = 0; i < pool->runtime_count; i++)
		if (!strcmp(pool->runtimes[i].config->name, name))
			return &pool->runtimes[i];
	return NULL;
}

const char *runtime_language(const struct runtime *runtime)
{
	const struct config_runtime *config = runtime->config;

	if (config->language[0])
		return config->language;
	return config->kind == KIND_PYTHON ? "python" : config->name;
}

bool runtime_reads_stdin_inline(const struct runtime *runtime)
{
	return runtime->config->kind == KIND_NODE;
}

bool runtime_forms(
	const struct runtime *runtime, const char *ret_forms[static CONFIG_FORMS_MAX + 1])
{
	unsigned count = runtime->config->form_count;

	for (unsigned i = 0; i < count; i++)
		ret_forms[i] = runtime->config->forms[i];
	ret_forms[count] = NULL;
	return runtime->config->kind == KIND_COMMAND;
}

bool runtime_is_made_of(const struct runtime *runtime, const char *digest)
{
	const struct list *first = list_first(&runtime->zygotes);

	return digest && strcmp(runtime->digest, digest) == 0 && zygote_in_use(runtime) &&
	       first->next == &runtime->zygotes;
}

struct value *runtime_stamp(const struct runtime *runtime, struct arena *arena)
{
	struct value *map = value_map(arena);

	value_map_put(arena, map, "name", value_text(arena, runtime->config->name));
	value_map_put(arena, map, "version",
		value_text(arena, runtime->version[0] ? runtime->version : NULL));
	value_map_put(arena, map, "digest",
		value_text(arena, runtime->digest[0] ? runtime->digest : NULL));
	return map;
}

struct value *pool_describe(const struct runtime *runtime, struct arena *arena)
{
	struct value *map = runtime_stamp(runtime, arena);
	static const enum worker_state told[] = { WORKER_WARM, WORKER_MAKING, WORKER_RUNNING,
		WORKER_ENDING };

	for (unsigned i = 0; i < COUNT_OF(told); i++)
		value_map_put(arena, map, worker_state_word(told[i]),
			value_int(arena, count_state(runtime, told[i])));
	value_map_put(arena, map, "wanted", value_int(arena, runtime->wanted));
	value_map_put(arena, map, "runs", value_int(arena, (int64_t)runtime->runs));
	value_map_put(arena, map, "waited", value_int(arena, (int64_t)runtime->cold));
	value_map_put(arena, map, "trouble",
		value_text(arena, runtime->trouble[0] ? runtime->trouble : NULL));
	value_map_put(arena, map, "language", value_text(arena, runtime_language(runtime)));
	value_map_put(arena, map, "kind", value_text(arena, runtime_orders_word(runtime->config)));
	value_map_put(arena, map, "preload", value_text(arena, runtime->config->preload));
	if (runtime->config->kind == KIND_COMMAND)
		value_map_put(arena, map, "tools", value_text(arena, runtime->config->tools));
	return map;
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
	for (unsigned i = 0; i < pool->all_count; i++) {
		timer_close(pool->runtimes[i].retry);
		list_for_each(at, &pool->runtimes[i].zygotes)
			zygote_free(container_of(at, struct zygote, link));
	}
	free(pool->runtimes);
	pool->runtimes = NULL;
	pool->all_count = 0;
}
