#include "daemon/workers/zygote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/workers/runtime.h"
#include "daemon/workers/worker.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

#define RETRY_MS       200 /* after the first failure; doubled each time */
#define RETRY_MS_MAX   30000
#define STEADY_IDLE_MS 300000 /* idle time of a zygote that was started on demand */
#define MISSES_MAX     3      /* failed makings in a row before a slot is given up */
#define VISIT_MESSAGES 16     /* from one zygote in one turn of the loop */

struct zygote *zygote_in_use(const struct runtime *runtime)
{
	struct list *first = list_first(&runtime->zygotes);
	struct zygote *zygote = first ? container_of(first, struct zygote, link) : NULL;

	return zygote && zygote->state == ZYGOTE_READY ? zygote : NULL;
}

uv_loop_t *zygote_loop(struct zygote *zygote)
{
	return zygote->runtime->pool->loop;
}

/* Counts the slots of this zygote that exist or are being opened. */
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
	struct slotmsg msg = slotmsg_of(SLOTMSG_SLOT_OPEN);
	int ends[2];
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];
	struct worker *worker;
	int result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "the daemon cannot make a socket for a slot");
	if (fd_set_nonblocking(ends[0], true, err) < 0) {
		close_fds(ends, 2);
		return -1;
	}
	fds[0] = ends[1];
	for (unsigned i = 0; i < knobs->join_count; i++)
		fds[1 + i] = knobs->join[i];
	msg.slot = index;
	result = slotmsg_send(watch_fd(zygote->control), &msg, fds, 1 + knobs->join_count, err);
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

/* Returns a required layer that the slot's cgroup lacks although the host has it, or NULL. */
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

/* The zygote may have gone since the question was sent; its memory stays until this answer. */
static void on_slot_knobs(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count)
{
	struct slot_question *question = context;
	struct zygote *zygote = question->zygote;
	struct err err = ERR_INIT;
	struct knobs knobs;

	zygote->opening--;
	/* The zygote has not heard of this number: it is free for the next slot. */
	if (msg->error && zygote->opened == question->index + 1)
		zygote->opened--;
	knobs_init(&knobs);
	if (msg->error || zygote->state != ZYGOTE_READY) {
		close_fds(fds, fd_count);
		if (msg->error && !zygote->runtime->pool->closing)
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

/* False: the question could not be asked; the next upkeep tries again. */
static bool ask_slot(struct zygote *zygote)
{
	struct slot_question *question = calloc(1, sizeof(*question));
	struct priv_msg msg = { .op = PRIV_SLOT };
	unsigned waiting = zygote->opening;

	if (!question)
		return false;
	question->zygote = zygote;
	question->index = zygote->opened++;
	zygote->opening++;
	msg.body.slot.zygote = zygote->child;
	msg.body.slot.slot = question->index;
	spawner_ask(zygote->runtime->pool->spawner, &msg, NULL, 0, on_slot_knobs, question);
	return zygote->opening > waiting;
}

/* ---- reports from workers ------------------------------------------------------------------- */

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
		return; /* upkeep ends a retiring zygote */
	if (worker->misses >= MISSES_MAX)
		worker_lose(worker, "too many attempts to make a worker in its slot failed");
	else if (!reclaim_start(&zygote->runtime->pool->reclaim, worker))
		worker_make(worker, &zygote->runtime->limits);
}

/* ---- start and end of a zygote -------------------------------------------------------------- */

static void close_worker(struct zygote *zygote, struct worker *worker)
{
	reclaim_forget(&zygote->runtime->pool->reclaim, worker);
	worker_close(worker);
}

void zygote_free(struct zygote *zygote)
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

/* After a zygote that never got ready: waits before the next one, longer each time. */
static void retry_later(struct runtime *runtime, const char *why)
{
	uint64_t wait_ms = RETRY_MS;

	runtime->is_slow = false;
	cut_printf(runtime->trouble, sizeof(runtime->trouble), "%s", why);
	log_event(LOG_LEVEL_ERROR, "zygote.failed", LOG_STR("runtime", runtime->config->name),
		LOG_STR("why", why));
	for (unsigned i = 0; i < runtime->failures && wait_ms < RETRY_MS_MAX; i++)
		wait_ms *= 2;
	runtime->failures++;
	if (!runtime->retry && !runtime->pool->closing)
		runtime->retry = timer_new(runtime->pool->loop, wait_ms, 0, on_retry, runtime);
}

/* Loses its workers and reports to the owners of their runs.  The next upkeep frees its memory. */
void zygote_lose(struct zygote *zygote, const char *why)
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
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		/* as intended: the daemon ends, or a successor is in use */
		if (runtime->pool->closing || (was_retiring && !worker->owner))
			worker_let_go(worker, why);
		else
			worker_lose(worker, why);
	}
	if (was_retiring || runtime->pool->closing)
		return;
	if ((runtime->is_steady || runtime->is_networked) && was_ready)
		return; /* the next deterministic run starts another */
	if (!was_ready)
		retry_later(runtime, why);
	else
		zygote_start(runtime);
}

/* "cpython 3.11.2\n numpy pandas": its version, and the modules that it could not import. */
static void take_text(struct runtime *runtime, const char *text)
{
	size_t len = strcspn(text, "\n");

	cut_printf(runtime->version, sizeof(runtime->version), "%.*s", (int)len, text);
	cut_printf(runtime->absent, sizeof(runtime->absent), "%s", text[len] ? text + len + 1 : "");
}

static void zygote_ready(struct zygote *zygote, const char *text)
{
	struct runtime *runtime = zygote->runtime;

	zygote->state = ZYGOTE_READY;
	runtime->failures = 0;
	runtime->is_slow = false;
	runtime->trouble[0] = '\0';
	take_text(runtime, text);
	log_event(LOG_LEVEL_INFO, "zygote.ready", LOG_STR("runtime", runtime->config->name),
		LOG_STR("version", runtime->version), LOG_INT("child", zygote->child),
		LOG_INT("ms", clock_ms() - zygote->started_ms));
	list_for_each(at, &runtime->zygotes) {
		struct zygote *other = container_of(at, struct zygote, link);

		if (other != zygote && other->state == ZYGOTE_READY)
			other->state = ZYGOTE_RETIRING;
	}
	zygote_open_slots(runtime);
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

static void on_zygote_message(struct zygote *zygote, const struct slotmsg *msg)
{
	struct worker *worker = worker_of(zygote, msg->slot);

	if (msg->kind == SLOTMSG_ZYGOTE_READY && zygote->state == ZYGOTE_STARTING) {
		zygote_ready(zygote, msg->text);
		return;
	}
	if (!worker || worker->state == WORKER_GONE)
		return;
	if (msg->kind == SLOTMSG_SLOT_OPENED && worker->state == WORKER_OPENING) {
		worker_opened(worker);
		zygote_on_empty(zygote, worker);
	} else if (msg->kind == SLOTMSG_SLOT_FAILED) {
		worker_lose(worker, msg->text);
	} else if (msg->kind == SLOTMSG_SLOT_GONE) {
		worker_lose(worker, "the process of its slot ended");
	}
}

static void on_control(void *owner, int events)
{
	struct zygote *zygote = owner;

	(void)events;
	for (int messages = 0; messages < VISIT_MESSAGES && zygote->control; messages++) {
		struct slotmsg msg;
		int fds[1 + SLOTMSG_JOIN_FDS_MAX];
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = slotmsg_recv(watch_fd(zygote->control), &msg, fds, &count, &err);

		if (got < 0 && err.code == ERR_BUSY)
			return;
		if (got <= 0) {
			zygote_lose(zygote, got < 0 ? err.text : "the zygote closed its socket");
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
	auto_fd int sock =
		take_fd(&zygote->early_sock); /* zygote_tend() no longer waits for this answer */

	close_fds(
		fds, fd_count); /* PRIV_EXITED reports its end, so nothing here needs this pidfd */
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
		zygote_lose(zygote, "the daemon has no memory to watch the zygote");
}

void zygote_start(struct runtime *runtime)
{
	struct zygote *zygote = calloc(1, sizeof(*zygote));
	struct priv_msg msg = { .op = PRIV_ZYGOTE };
	struct err err = ERR_INIT;
	int ends[2];

	if (!zygote || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		free(zygote);
		retry_later(runtime, "the daemon has no memory or no socket for a zygote");
		return;
	}
	(void)fd_set_nonblocking(ends[0], true, &err);
	zygote->runtime = runtime;
	zygote->state = ZYGOTE_ASKED;
	zygote->early_sock = ends[0];
	zygote->started_ms = clock_ms();
	list_init(&zygote->workers);
	list_prepend(&runtime->zygotes, &zygote->link);
	runtime_take_fingerprint(runtime);
	msg.body.zygote.runtime = runtime->number;
	msg.body.zygote.slots = PRIV_SLOTS_MAX;
	spawner_ask(runtime->pool->spawner, &msg, &ends[1], 1, on_zygote_answer, zygote);
}

/* ---- upkeep --------------------------------------------------------------------------------- */

void zygote_open_slots(struct runtime *runtime)
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

		if (worker->owner || worker->state == WORKER_ENDING)
			return true;
	}
	return false;
}

/* Ends the warm workers now.  Ends the zygote when its last run is done. */
static void retire(struct zygote *zygote)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);

		if (worker->state == WORKER_WARM)
			worker_release(worker);
	}
	if (!is_busy(zygote))
		zygote_lose(zygote, "a newer zygote has replaced it");
}

void zygote_tend(struct zygote *zygote)
{
	list_for_each(at, &zygote->workers) {
		struct worker *worker = container_of(at, struct worker, link);
		bool is_stuck = worker_is_stuck(worker);

		if (is_stuck && worker->state == WORKER_OPENING)
			zygote_lose(zygote,
				"the zygote opened no slot in time"); /* it loses the worker too */
		else if (is_stuck)
			worker_lose(worker, "its slot sent no message in time");
		if (worker->state == WORKER_GONE)
			close_worker(zygote, worker);
	}
	if (zygote->state == ZYGOTE_RETIRING)
		retire(zygote);
	if (zygote->state == ZYGOTE_GONE && !zygote->opening && zygote->early_sock < 0)
		zygote_free(zygote);
}

bool zygote_is_worn(const struct zygote *zygote)
{
	const struct config *config = zygote->runtime->pool->config;
	bool out_of_slots =
		zygote->opened == PRIV_SLOTS_MAX && slots_alive(zygote) < zygote->runtime->wanted;

	return out_of_slots || zygote->runs >= config->zygote_runs ||
	       clock_ms() - zygote->started_ms >= (int64_t)config->zygote_age_s * 1000;
}

bool zygote_is_idle(const struct zygote *zygote)
{
	const struct runtime *runtime = zygote->runtime;

	return (runtime->is_steady || runtime->is_networked) && !is_busy(zygote) &&
	       clock_ms() - zygote->started_ms > STEADY_IDLE_MS &&
	       clock_ms() - runtime->taken_ms > STEADY_IDLE_MS;
}
