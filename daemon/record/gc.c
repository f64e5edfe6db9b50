#include "daemon/record/gc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/record/wallclock.h"
#include "daemon/settings/config.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/log.h"
#include "proto/fill.h"
#include "proto/json.h"

#define PIECE_RUNS       25
#define PIECE_TIGHT      5 /* on a full disk, where each piece uses part of the reserve */
#define SHRINK_PAGES     256
#define REST_TIMES       4 /* gc pauses so many times as long as a piece took */
#define ROUNDS_MAX       4
#define TRIES_MAX        100               /* to settle a damaged store: each try skips some runs */
#define FIRST_MS         ((uint64_t)30000) /* after the start */
#define DAY_US           (INT64_C(86400) * 1000000)
#define PARAMS_BYTES_MAX ((size_t)64 << 10)

static struct gc *gc_of_task(struct store_task *task)
{
	return container_of(task, struct gc, task);
}

static struct gc *gc_of_recording(struct recording *recording)
{
	return container_of(recording, struct gc, recording);
}

static bool is_closing(const struct gc *gc)
{
	return gc->closing || *gc->parts.is_closing;
}

/* ---- the end -------------------------------------------------------------------------------- */

struct value *gc_describe_last(const struct gc *gc, struct arena *arena)
{
	struct fill fill = fill_start(arena);

	fill_bool(&fill, "dry_run", gc->dry);
	fill_uint(&fill, "runs", gc->dry ? gc->plan.runs : gc->taken);
	fill_uint(&fill, "bytes", gc->dry ? gc->plan.bytes : gc->taken_bytes);
	if (gc->plan.until[0])
		fill_text(&fill, "until", gc->plan.until);
	prune_failures_describe(&gc->behind, &fill);
	fill_uint(&fill, "used_bytes", gc->dry ? gc->plan.used_bytes : gc->after.used_bytes);
	if (!gc->dry) {
		fill_uint(&fill, "file_bytes", gc->after.file_bytes);
		fill_int(&fill, "took_ms", clock_ms() - gc->begun_ms);
	}
	return fill_done(&fill);
}

static void rest_until_due(struct gc *gc)
{
	if (gc->due)
		timer_set(gc->due, gc->parts.config->keep_check_ms);
}

/* gc is ready for the next request before it answers this one. */
static void gc_finish(struct gc *gc, const struct err *err)
{
	const struct gc_request request = gc->request;

	gc->busy = false;
	gc->resting = false;
	gc->request.done = NULL;
	if (err) {
		cut_printf(gc->trouble, sizeof(gc->trouble), "%s", err->text);
		log_event(LOG_LEVEL_WARNING, "gc.failed", LOG_STR("why", err->text),
			LOG_INT("runs", gc->taken));
	} else if (!gc->dry) {
		gc->trouble[0] = '\0';
		gc->times++;
		gc->last_wall_us = clock_wall_us();
	}
	rest_until_due(gc);
	if (request.done)
		request.done(request.owner, gc, err);
}

/* Ends gc early: because of *err, or with NULL because the daemon closes. */
static void break_off(struct gc *gc, const struct err *err)
{
	struct err closing = ERR_INIT;

	(void)err_set(&closing, ERR_CLOSED, "the daemon is closing");
	gc_finish(gc, err ? err : &closing);
}

/* ---- records -------------------------------------------------------------------------------- */

static void describe_act(struct gc *gc, struct store_act *act, const char *method)
{
	*act = (struct store_act){ .at_wall_us = clock_wall_us(),
		.uid = gc->uid,
		.gid = gc->gid,
		.pid = gc->pid,
		.method = method,
		.params = gc->params,
		.result = gc->result };
}

static void gc_put(struct gc *gc, const struct recording *recording)
{
	gc->recording = *recording;
	gc->recording.durability = STORE_NOW;
	gc->piece_ms = clock_ms();
	recorder_put(gc->parts.recorder, &gc->recording);
}

static void put_care(struct gc *gc,
	int (*write)(struct recording *recording, struct store *store, struct err *err),
	void (*done)(struct recording *recording, const struct err *err))
{
	const struct recording recording = { .kind = RECORDING_CARE, .write = write, .done = done };

	gc_put(gc, &recording);
}

static void on_recorded(struct recording *recording, const struct err *err)
{
	gc_finish(gc_of_recording(recording), err);
}

/* Records one act for the whole gc; each piece has an act of its own too. */
static void gc_record(struct gc *gc)
{
	struct recording recording = { .kind = RECORDING_ACT, .done = on_recorded };

	if (!gc->taken) {
		gc_finish(gc, NULL);
		return;
	}
	(void)snprintf(gc->result, sizeof(gc->result),
		"{\"runs\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"until\":\"%s\""
		",\"left_behind\":%" PRIu64 "}",
		gc->taken, gc->taken_bytes, gc->plan.until, gc->behind.runs);
	log_event(LOG_LEVEL_NOTICE, "gc.done", LOG_INT("runs", gc->taken),
		LOG_INT("bytes", gc->taken_bytes), LOG_INT("left_behind", gc->behind.runs),
		LOG_INT("uid", gc->uid), LOG_INT("took_ms", clock_ms() - gc->begun_ms));
	describe_act(gc, &recording.act, gc->request.done ? "admin.gc" : "retention");
	gc_put(gc, &recording);
}

/* ---- shrinking the file --------------------------------------------------------------------- */

static void shrink(void *owner);

static int write_shrink(struct recording *recording, struct store *store, struct err *err)
{
	struct gc *gc = gc_of_recording(recording);

	if (store_shrink(store, SHRINK_PAGES, &gc->more, err) < 0)
		return -1;
	return store_sizes(store, &gc->after, err);
}

/* Why gc must stop, or NULL: pruning makes the store's log longer while it cannot be emptied. */
static const struct err *held_up(const struct gc *gc)
{
	const struct err *trouble = recorder_trouble(gc->parts.recorder);

	return trouble && trouble->code == ERR_BUSY ? trouble : NULL;
}

/* Pauses, so that other records are written, and then calls `then`. */
static void rest(struct gc *gc, timer_due *then)
{
	int64_t took_ms = clock_ms() - gc->piece_ms;
	const struct err *trouble = held_up(gc);

	if (trouble) {
		break_off(gc, trouble);
		return;
	}
	gc->resting = true;
	timer_close(gc->rest);
	gc->rest = timer_new(gc->parts.loop, (uint64_t)(took_ms + 1) * REST_TIMES, 0, then, gc);
	if (!gc->rest) {
		struct err err = ERR_INIT;

		(void)err_set(&err, ERR_MEMORY, "no memory to go on with gc");
		gc_finish(gc, &err);
	}
}

static void on_shrunk(struct recording *recording, const struct err *err)
{
	struct gc *gc = gc_of_recording(recording);
	bool goes_on = err && prune_failures_may_continue(&gc->behind, err);

	/* The contents are removed even if their pages could not be returned to the disk. */
	if (goes_on)
		log_event(LOG_LEVEL_WARNING, "gc.not_shrunk", LOG_STR("why", err->text));
	if ((err && !goes_on) || is_closing(gc))
		break_off(gc, err);
	else if (!err && gc->more)
		rest(gc, shrink);
	else
		gc_record(gc);
}

static void shrink(void *owner)
{
	struct gc *gc = owner;

	gc->resting = false;
	put_care(gc, write_shrink, on_shrunk);
}

/* ---- settling ------------------------------------------------------------------------------- */

static void next_piece(void *owner);
static void settle(void *owner);
static void plan(struct gc *gc);

static void plan_anew(void *owner)
{
	struct gc *gc = owner;

	gc->resting = false;
	plan(gc);
}

static int write_settle(struct recording *recording, struct store *store, struct err *err)
{
	return store_settle(store, &gc_of_recording(recording)->more, err);
}

static void on_settled(struct recording *recording, const struct err *err)
{
	struct gc *gc = gc_of_recording(recording);

	bool again =
		err && prune_failures_may_continue(&gc->behind, err) && gc->tries++ < TRIES_MAX;

	if (gc->dry && err && !again && !is_closing(gc))
		plan(gc); /* the plan is less exact without settling */
	else if ((err && !again) || is_closing(gc))
		break_off(gc, err);
	else
		rest(gc, again || gc->more ? settle : gc->dry ? plan_anew : next_piece);
}

/* Before the first piece or the plan of a dry run, which would else index all runs at once. */
static void settle(void *owner)
{
	struct gc *gc = owner;

	gc->resting = false;
	put_care(gc, write_settle, on_settled);
}

/* ---- pruning -------------------------------------------------------------------------------- */

static int write_prune(struct recording *recording, struct store *store, struct err *err)
{
	struct gc *gc = gc_of_recording(recording);
	const char *ids[STORE_PIECE_MAX];
	struct store_act act;

	for (unsigned i = 0; i < gc->count; i++)
		ids[i] = gc->ids[i];
	describe_act(gc, &act, "prune");
	return store_prune(store, &act, ids, gc->count, &gc->bytes, err);
}

static void count_taken(struct gc *gc)
{
	prune_failures_success(&gc->behind);
	gc->taken += gc->count;
	gc->taken_bytes += gc->bytes;
	gc->total_runs += gc->count;
	gc->total_bytes += gc->bytes;
}

/* No run of the piece was pruned. */
static void count_stayed(struct gc *gc, const struct err *err)
{
	if (gc->count == 1) {
		prune_failures_add(&gc->behind, gc->ids[0], err->text);
		return;
	}
	gc->left.at = gc->piece_at;
	gc->singly = gc->count;
}

static void on_pruned(struct recording *recording, const struct err *err)
{
	struct gc *gc = gc_of_recording(recording);

	if ((err && !prune_failures_may_continue(&gc->behind, err)) || is_closing(gc)) {
		break_off(gc, err);
		return;
	}
	if (err)
		count_stayed(gc, err);
	else
		count_taken(gc);
	rest(gc, next_piece);
}

/* Counts runs whose row could not be read, so that their ids are unknown. */
static void count_unreadable(struct gc *gc)
{
	if (gc->left.unreadable.runs)
		prune_failures_add_rows(&gc->behind, gc->left.unreadable.runs,
			gc->left.unreadable.row, gc->left.unreadable.why.text);
	gc->left.unreadable.runs = 0;
}

static int name_next(
	struct store_task *task, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct gc *gc = gc_of_task(task);

	(void)stop;
	return store_plan_next(store, &gc->left, gc->ids, gc->most, &gc->count, err);
}

static void on_named(struct store_task *task, const struct err *err)
{
	struct gc *gc = gc_of_task(task);

	if (err || is_closing(gc)) {
		break_off(gc, err);
		return;
	}
	count_unreadable(gc);
	if (!gc->count) {
		/*
		 * How many pages got free is known only now: plan again if the size is not
		 * reached.
		 */
		if (gc->keep.bytes && gc->plan.runs && gc->rounds < ROUNDS_MAX)
			plan(gc);
		else
			shrink(gc);
		return;
	}
	(void)snprintf(gc->result, sizeof(gc->result),
		"{\"runs\":%u,\"from\":\"%s\",\"until\":\"%s\"}", gc->count, gc->ids[0],
		gc->ids[gc->count - 1]);
	put_care(gc, write_prune, on_pruned);
}

static unsigned piece_of(const struct gc *gc)
{
	const struct err *trouble = recorder_trouble(gc->parts.recorder);

	return trouble && trouble->code == ERR_FULL ? PIECE_TIGHT : PIECE_RUNS;
}

static void next_piece(void *owner)
{
	struct gc *gc = owner;

	gc->resting = false;
	gc->piece_at = gc->left.at;
	gc->most = gc->singly ? 1 : piece_of(gc);
	gc->singly -= gc->singly ? 1 : 0;
	gc->task.run = name_next;
	gc->task.done = on_named;
	store_thread_put(gc->parts.thread, &gc->task);
}

/* ---- planning ------------------------------------------------------------------------------- */

static int make_plan(
	struct store_task *task, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct gc *gc = gc_of_task(task);

	if (store_sizes(store, &gc->after, err) < 0)
		return -1;
	return store_plan(store, &gc->keep, stop, &gc->plan, err);
}

static void on_planned(struct store_task *task, const struct err *err)
{
	struct gc *gc = gc_of_task(task);

	if (err || is_closing(gc)) {
		break_off(gc, err);
		return;
	}
	gc->left = gc->plan;
	if (gc->dry) {
		count_unreadable(gc);
		gc_finish(gc, NULL);
		return;
	}
	gc->left.unreadable.runs = 0; /* store_plan_next() finds them again */
	if (!gc->plan.runs && !gc->plan.unreadable.runs && !gc->taken) {
		gc_finish(gc, NULL);
		return;
	}
	if (gc->plan.runs || gc->plan.unreadable.runs)
		settle(gc);
	else
		shrink(gc);
}

static void plan(struct gc *gc)
{
	prune_failures_start(&gc->behind, gc->rounds++ > 0);
	gc->task.run = make_plan;
	gc->task.done = on_planned;
	store_thread_put(gc->parts.thread, &gc->task);
}

/* ---- started by the settings ---------------------------------------------------------------- */

static void keep_as_configured(struct gc *gc)
{
	const struct config *config = gc->parts.config;

	gc->keep = (struct store_keep){ .runs = config->keep_runs, .bytes = config->keep_bytes };
	if (config->keep_days)
		gc->keep.before_wall_us =
			wallclock_surely_us(gc->parts.clock, clock_wall_us(), clock_us()) -
			(int64_t)config->keep_days * DAY_US;
}

static bool is_configured(const struct gc *gc)
{
	const struct config *config = gc->parts.config;

	return config->keep_days || config->keep_runs || config->keep_bytes;
}

static void gc_start_work(struct gc *gc)
{
	gc->busy = true;
	gc->begun_ms = clock_ms();
	gc->taken = 0;
	gc->taken_bytes = 0;
	gc->rounds = 0;
	gc->singly = 0;
	gc->tries = 0;
	gc->plan = (struct store_plan){ .runs = 0 };
	if (gc->dry)
		settle(gc); /* so that it reports what a real gc would do */
	else
		plan(gc);
}

static void on_due(void *owner)
{
	struct gc *gc = owner;

	if (gc->busy || gc->closing)
		return; /* gc_finish() sets the timer again */
	gc->dry = false;
	gc->uid = getuid();
	gc->gid = getgid();
	gc->pid = getpid();
	keep_as_configured(gc);
	(void)snprintf(gc->params, sizeof(gc->params),
		"{\"keep_days\":%" PRIu64 ",\"keep_runs\":%" PRIu64 ",\"keep_bytes\":%" PRIu64 "}",
		gc->parts.config->keep_days, gc->parts.config->keep_runs,
		gc->parts.config->keep_bytes);
	gc_start_work(gc);
}

void gc_settings_changed(struct gc *gc)
{
	uint64_t every_ms = gc->parts.config->keep_check_ms;
	uint64_t ms = every_ms < FIRST_MS ? every_ms : FIRST_MS;

	if (gc->closing)
		return;
	if (!is_configured(gc)) {
		timer_close(gc->due);
		gc->due = NULL;
	} else if (!gc->due) {
		gc->due = timer_new(gc->parts.loop, ms, 0, on_due, gc);
	} else if (!gc->busy) {
		timer_set(gc->due, ms);
	}
}

void gc_start(struct gc *gc, const struct gc_parts *parts)
{
	*gc = (struct gc){ .parts = *parts };
	gc_settings_changed(gc);
}

void gc_stop(struct gc *gc)
{
	gc->closing = true;
	timer_close(gc->due);
	gc->due = NULL;
	timer_close(gc->rest);
	gc->rest = NULL;
	if (!gc->resting)
		return; /* the callback of the current task or record ends gc */
	break_off(gc, NULL);
}

/* ---- started by an administrator ------------------------------------------------------------ */

static bool keep_as_asked(struct gc *gc, const struct value *params)
{
	const struct value *age = value_get(params, "older_than_s");
	const struct value *runs = value_get(params, "keep_runs");
	const struct value *bytes = value_get(params, "keep_bytes");

	if (!age && !runs && !bytes) {
		keep_as_configured(gc);
		return is_configured(gc);
	}
	gc->keep = (struct store_keep){ .runs = (uint64_t)value_as_int(runs, 0),
		.bytes = (uint64_t)value_as_int(bytes, 0) };
	if (age)
		gc->keep.before_wall_us = clock_wall_us() - value_as_int(age, 0) * 1000000;
	return true;
}

static void note_params(struct gc *gc, const struct value *params)
{
	struct bytes text = { "{}", 2 };
	struct arena arena;

	arena_init(&arena, PARAMS_BYTES_MAX);
	(void)json_write_text(
		&arena, params, JSON_WRITE_COMPACT, sizeof(gc->params) - 1, &text, NULL);
	cut_printf(gc->params, sizeof(gc->params), "%s", text.data);
	arena_done(&arena);
}

int gc_begin(struct gc *gc, const struct gc_request *request, struct err *err)
{
	int64_t ahead_us = gc->parts.clock->set_ahead_us;

	if (gc->busy)
		return err_set(err, ERR_BUSY, "gc is running already");
	if (value_get(request->params, "older_than_s") && ahead_us > DAY_US)
		return err_set(err, ERR_INVALID,
			"the clock of this host went ahead by %" PRId64
			" days; the daemon trusts it again after a day without a jump: until then use "
			"keep_runs or keep_bytes, not an age",
			ahead_us / DAY_US);
	if (!keep_as_asked(gc, request->params))
		return err_set(err, ERR_INVALID,
			"say what is to be kept, by age, number of runs or size: the settings keep everything");
	gc->dry = value_as_bool(value_get(request->params, "dry_run"), false);
	gc->request = *request;
	gc->uid = request->uid;
	gc->gid = request->gid;
	gc->pid = request->pid;
	note_params(gc, request->params);
	gc_start_work(gc);
	return 0;
}

struct value *gc_describe(const struct gc *gc, struct arena *arena)
{
	struct fill fill = fill_start(arena);

	fill_bool(&fill, "busy", gc->busy);
	fill_uint(&fill, "times", gc->times);
	fill_uint(&fill, "runs", gc->total_runs);
	fill_uint(&fill, "bytes", gc->total_bytes);
	if (gc->last_wall_us)
		fill_int(&fill, "last_us", gc->last_wall_us);
	prune_failures_describe(&gc->behind, &fill);
	if (gc->trouble[0])
		fill_text(&fill, "trouble", gc->trouble);
	return fill_done(&fill);
}
