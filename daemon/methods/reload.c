#include "daemon/methods/reload.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/door/ceilings.h"
#include "daemon/door/conn.h"
#include "daemon/gate/blobs.h"
#include "daemon/gate/budgets.h"
#include "daemon/loop/service_manager.h"
#include "daemon/methods/admin_ops.h"
#include "daemon/methods/methods.h"
#include "daemon/news/alerts.h"
#include "daemon/news/events.h"
#include "daemon/policy/allowances.h"
#include "daemon/policy/policy_names.h"
#include "daemon/record/gc.h"
#include "daemon/record/recorder.h"
#include "daemon/redact/pattern_book.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "daemon/settings/config_check.h"
#include "daemon/settings/config_egress.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_report.h"
#include "daemon/workers/inspectors.h"
#include "daemon/workers/worker_queue.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/json.h"

#define TASK_ARENA ((size_t)4 << 20)
#define TRY_MS     30000 /* for an inspector to read new rules */
#define LOOK_MS    200

/* Policies that are no longer in force, with their inspectors. */
struct earlier {
	struct list link;
	struct policies *policies;
	struct inspectors *inspectors; /* NULL: they have ended */
	bool stopped;                  /* nobody asks them any more */
};

/* One reload. */
struct reload_task {
	struct reload *reload;
	struct call *call; /* NULL: nobody waits for the answer */
	struct arena arena;
	struct config fresh;
	struct policies *policies;     /* NULL: not read, or taken */
	struct pattern_book *patterns; /* alike */
	struct inspectors *inspectors;
	struct timer *end; /* of a try */
	struct config_changes *changes;
	struct err err; /* empty: no fault so far */
	bool has_new_policies;
	bool has_new_patterns;
	bool given_up; /* the try has failed; its end is on the way */
	char before[DIGEST_TEXT_LEN + 1], after[DIGEST_TEXT_LEN + 1];
	struct recording recording;
	struct value *result;
};

/* ---- earlier policies ------------------------------------------------------------------------ */

/* Whether nothing of it is left. */
static bool earlier_is_over(struct earlier *earlier)
{
	if (!earlier->stopped) {
		if (policies_may_be_asked(earlier->policies))
			return false;
		earlier->stopped = true;
		inspectors_end(earlier->inspectors);
		policies_stop(earlier->policies);
	}
	if (earlier->inspectors && inspectors_are_quiet(earlier->inspectors)) {
		inspectors_free(earlier->inspectors);
		earlier->inspectors = NULL;
	}
	return !earlier->inspectors && !policies_are_held(earlier->policies);
}

static void on_look(void *owner)
{
	struct reload *reload = owner;

	list_for_each(at, &reload->earlier) {
		struct earlier *earlier = container_of(at, struct earlier, link);

		if (!earlier_is_over(earlier))
			continue;
		list_remove(&earlier->link);
		policies_close(earlier->policies);
		free(earlier);
		reload->earlier_count--;
	}
	if (reload->earlier_count)
		return;
	timer_close(reload->look);
	reload->look = NULL;
}

/* `entry` is the memory for it. */
static void keep_earlier(struct reload *reload, struct earlier *entry, struct policies *policies,
	struct inspectors *inspectors)
{
	*entry = (struct earlier){ .policies = policies, .inspectors = inspectors };
	list_append(&reload->earlier, &entry->link);
	reload->earlier_count++;
	if (!reload->look)
		reload->look = timer_new(reload->services->loop, LOOK_MS, LOOK_MS, on_look, reload);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void task_free(struct reload_task *task)
{
	struct reload *reload = task->reload;

	timer_close(task->end);
	policies_close(task->policies);
	pattern_book_release(task->patterns);
	free(task->changes);
	arena_done(&task->arena);
	free(task);
	reload->task = NULL;
}

static void on_recorded(struct recording *recording, const struct err *err)
{
	struct reload_task *task = container_of(recording, struct reload_task, recording);
	struct call *call = task->call;

	if (call && err)
		call_error(call, RPC_CODE_INTERNAL,
			"the settings were read, but the daemon could not record it: %s",
			err->text);
	else if (call)
		call_result(call, task->result);
	task_free(task);
}

static struct value *describe_changes(struct reload_task *task, bool waits)
{
	struct arena *arena = &task->arena;
	struct value *list = value_list(arena);

	for (unsigned i = 0; task->changes && i < task->changes->count; i++) {
		const struct config_change *change = &task->changes->items[i];
		struct fill fill = fill_start(arena);

		if (change->waits != waits)
			continue;
		fill_text(&fill, "key", change->key);
		fill_text(&fill, "from", change->from);
		fill_text(&fill, "to", change->to);
		value_list_add(arena, list, fill_done(&fill));
	}
	return list;
}

/* {reloaded, digest_before, digest_after, policies, patterns, changed, waits, refused?} */
static struct value *describe_task(struct reload_task *task)
{
	struct fill map = fill_start(&task->arena);
	bool refused = task->err.text[0] != '\0';

	fill_bool(&map, "reloaded", !refused);
	fill_text(&map, "digest_before", task->before);
	fill_text(&map, "digest_after", task->after);
	fill_bool(&map, "policies", !refused && task->has_new_policies);
	fill_bool(&map, "patterns", !refused && task->has_new_patterns);
	fill_value(&map, "changed", describe_changes(task, false));
	fill_value(&map, "waits", describe_changes(task, true));
	if (refused)
		fill_value(&map, "refused",
			config_describe_fault(&task->fresh, &task->err, &task->arena));
	return fill_done(&map);
}

static void task_act(struct reload_task *task, struct store_act *act)
{
	struct bytes text = { "{}", 2 };

	if (task->call) {
		admin_ops_act(task->call, task->result, act);
		return;
	}
	if (task->result)
		(void)json_write_text(
			&task->arena, task->result, JSON_WRITE_COMPACT, TASK_ARENA, &text, NULL);
	act->at_wall_us = clock_wall_us();
	act->uid = geteuid();
	act->gid = getegid();
	act->pid = getpid();
	act->method = "admin.reload";
	act->params = "{}";
	act->result = text.data;
}

static void task_finish(struct reload_task *task)
{
	const struct services *services = task->reload->services;

	host_reloaded();
	if (services->state->closing || !services->recorder) {
		if (task->call)
			call_error(task->call, RPC_CODE_DRAINING, "the daemon is closing");
		task_free(task);
		return;
	}
	config_digest(services->config, task->after);
	task->result = describe_task(task);
	task->recording.kind = RECORDING_ACT;
	task->recording.durability = STORE_NOW;
	task->recording.done = on_recorded;
	task_act(task, &task->recording.act);
	recorder_put(services->recorder, &task->recording);
}

static void task_refuse(struct reload_task *task)
{
	struct reload *reload = task->reload;

	reload->refused++;
	reload->trouble = task->err;
	reload->refused_wall_us = clock_wall_us();
	log_event(LOG_LEVEL_ERROR, "reload.refused", LOG_STR("why", task->err.text));
	task_finish(task);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static void take_settings(struct reload_task *task)
{
	struct reload *reload = task->reload;
	const struct services *services = reload->services;
	const struct config *config = reload->config;

	config_adopt(reload->config, &task->fresh, !reload->has_network, task->changes);
	reload->bounds->standard = config->limits;
	reload->bounds->most = config->most;
	reload->bounds->input_bytes = config->input_bytes;
	reload->bounds->files_bytes = config->files_bytes;
	reload->bounds->schema_bytes = config->schema_bytes;
	ceilings_set(services->ceilings, config);
	blobs_set(services->blobs, config->blob_bytes_per_uid, config->blob_s);
	queue_set(services->queue, (unsigned)config->queue_max, (unsigned)config->queue_per_caller,
		(unsigned)config->running_per_caller);
	sessions_set(services->sessions, config);
	budgets_set_circuit(services->budgets, config->circuit_ms);
	alerts_set(services->alerts);
	conn_roles_changed(reload->services);
	events_roles_changed(services->events);
	gc_settings_changed(services->gc);
}

static void task_take(struct reload_task *task, struct earlier *entry)
{
	struct reload *reload = task->reload;
	struct services *services = reload->services;

	if (task->has_new_policies) {
		keep_earlier(reload, entry, services->policies, services->inspectors);
		services->policies = take_ptr(task->policies);
		services->inspectors = take_ptr(task->inspectors);
	}
	if (task->has_new_patterns) {
		pattern_book_release(services->patterns);
		services->patterns = take_ptr(task->patterns);
	}
	take_settings(task);
	(void)policies_set_standard(services->policies, services->config->policy);
	reload->done++;
	reload->last_wall_us = clock_wall_us();
	reload->trouble = (struct err)ERR_INIT;
	log_event(LOG_LEVEL_NOTICE, "reload.done", LOG_INT("changed", task->changes->count),
		LOG_INT("policies", task->has_new_policies),
		LOG_INT("patterns", task->has_new_patterns));
	if (reload->waiting)
		*reload->waiting = *task->changes;
	task_finish(task);
}

/* ---- trying new rules ------------------------------------------------------------------------ */

/* Ends from the loop: the caller may be a callback of what is ended. */
static void on_try_end(void *owner)
{
	struct reload_task *task = owner;
	struct reload *reload = task->reload;
	struct earlier *entry = calloc(1, sizeof(*entry));

	timer_close(task->end);
	task->end = NULL;
	if (!entry) {
		timer_close(task->end);
		task->end = timer_new(reload->services->loop, LOOK_MS, 0, on_try_end, task);
		return;
	}
	if (!task->err.text[0] && !policies_ready(task->policies))
		(void)err_set(&task->err, ERR_TIMEOUT,
			"no inspector was ready with the new policies within %d s: try again",
			TRY_MS / 1000);
	if (!task->err.text[0]) {
		task_take(task, entry);
		return;
	}
	keep_earlier(reload, entry, take_ptr(task->policies), take_ptr(task->inspectors));
	(void)earlier_is_over(entry); /* its inspectors report nothing any more */
	task_refuse(task);
}

static void end_try(struct reload_task *task)
{
	if (!task->given_up)
		timer_set(task->end, 0);
	task->given_up = true;
}

static void on_try_ready(void *owner)
{
	struct reload *reload = owner;

	struct reload_task *task = reload->task;

	/* It may be of earlier policies. */
	if (task && task->inspectors && policies_ready(task->policies))
		end_try(task);
}

/* True: the inspectors are not tried again. */
static bool on_try_failed(void *owner, const char *why)
{
	struct reload *reload = owner;
	struct reload_task *task = reload->task;

	if (!task || !task->inspectors || policies_were_ready(task->policies))
		return false;
	if (!task->given_up)
		(void)err_set(&task->err, ERR_INVALID, "%s", why);
	end_try(task);
	return true;
}

static bool on_rules_fault(void *owner, const char *why, const char *repair)
{
	char text[ERR_TEXT_MAX];

	cut_printf(text, sizeof(text), "%s: %s", why, repair);
	return on_try_failed(owner, text);
}

static int try_policies(struct reload_task *task)
{
	struct reload *reload = task->reload;
	const struct inspectors_parts parts = { reload->services->loop, reload->config,
		reload->services->spawner, task->policies };
	const struct inspectors_events events = { on_try_ready, on_try_failed, on_rules_fault,
		reload };

	if (reload->earlier_count >= RELOAD_EARLIER_MAX)
		return err_set(&task->err, ERR_BUSY,
			"runs in progress or waiting for approval still have %d earlier sets of policies: decide about them (cectl approvals), or wait",
			RELOAD_EARLIER_MAX);
	task->end = timer_new(reload->services->loop, TRY_MS, 0, on_try_end, task);
	if (!task->end)
		return err_set(&task->err, ERR_MEMORY, "no memory to try the policies");
	task->inspectors = inspectors_start(&parts, &events, &task->err);
	if (task->inspectors)
		return 0;
	timer_close(task->end);
	task->end = NULL;
	return -1;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* On a thread: touches only the task, and the files. */
static void read_all(void *context)
{
	struct reload_task *task = context;
	struct config *fresh = &task->fresh;
	struct err *err = &task->err;

	if (config_read(fresh, task->reload->services->sources, err) < 0 ||
		config_check_host(fresh, err) < 0)
		return;
	task->policies = policies_load(fresh->policies[0] ? fresh->policies : NULL, NULL, err);
	if (!task->policies || allowances_add_policies(fresh, task->policies, err) < 0) {
		if (fresh->file_count)
			(void)err_wrap(err, "configuration %s", fresh->files[0]);
		return;
	}
	if (policy_names_take(task->policies, fresh, err) < 0 ||
		policy_names_check_alerts(task->policies, fresh, err) < 0)
		return;
	task->patterns = pattern_book_load(fresh->redactions[0] ? fresh->redactions : NULL, err);
	if (!task->patterns && fresh->file_count)
		(void)err_wrap(err, "configuration %s", fresh->files[0]);
}

static void on_read(void *context)
{
	struct reload_task *task = context;
	const struct services *services = task->reload->services;

	if (services->state->closing)
		(void)err_set(&task->err, ERR_CLOSED, "the daemon is closing");
	if (task->err.text[0]) {
		task_refuse(task);
		return;
	}
	task->has_new_policies = !policies_are_same(task->policies, services->policies);
	task->has_new_patterns = !pattern_book_is_same(task->patterns, services->patterns);
	if (!task->has_new_policies)
		task_take(task, NULL);
	else if (try_policies(task) < 0)
		task_refuse(task);
}

static struct reload_task *task_new(struct reload *reload, struct call *call)
{
	struct reload_task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->changes = calloc(1, sizeof(*task->changes));
	if (!task->changes) {
		free(task);
		return NULL;
	}
	arena_init(&task->arena, TASK_ARENA);
	task->reload = reload;
	task->call = call;
	config_digest(reload->config, task->before);
	return task;
}

static bool begin(struct reload *reload, struct call *call)
{
	struct reload_task *task = task_new(reload, call);

	if (!task)
		return false;
	reload->task = task;
	if (work_start(reload->services->loop, read_all, on_read, task) < 0) {
		task_free(task);
		return false;
	}
	host_reloading(clock_us());
	return true;
}

void method_reload(struct call *call)
{
	struct reload *reload = call->services->reload;

	if (reload->task)
		call_error(call, RPC_CODE_BUSY, "another reload is in progress: try again");
	else if (call->services->state->closing)
		call_error(call, RPC_CODE_DRAINING, "the daemon is closing");
	else if (!call->services->state->ready)
		call_error(call, RPC_CODE_BUSY, "the daemon is starting: try again");
	else if (!begin(reload, call))
		call_error(call, RPC_CODE_INTERNAL, "not done: no memory to read the settings");
}

void reload_start(struct reload *reload)
{
	if (reload->services->state->closing || !reload->services->state->ready)
		return;
	if (reload->task || !begin(reload, NULL))
		log_event(LOG_LEVEL_WARNING, "reload.refused",
			LOG_STR("why", "another reload is in progress, or there is no memory"));
}

/* ---- life ------------------------------------------------------------------------------------ */

void reload_init(struct reload *reload, struct services *services, struct config *config,
	struct job_bounds *bounds)
{
	*reload = (struct reload){ .services = services, .config = config, .bounds = bounds };
	list_init(&reload->earlier);
}

void reload_ready(struct reload *reload)
{
	reload->has_network = config_has_egress(reload->config);
	reload->waiting = calloc(1, sizeof(*reload->waiting));
}

struct value *reload_describe(const struct reload *reload, struct arena *arena)
{
	struct fill map = fill_start(arena);
	struct value *waits = value_list(arena);

	for (unsigned i = 0; reload->waiting && i < reload->waiting->count; i++)
		if (reload->waiting->items[i].waits)
			value_list_add(
				arena, waits, value_text(arena, reload->waiting->items[i].key));
	fill_uint(&map, "done", reload->done);
	fill_uint(&map, "refused", reload->refused);
	if (reload->last_wall_us)
		fill_int(&map, "last_us", reload->last_wall_us);
	if (reload->trouble.text[0]) {
		fill_text(&map, "trouble", reload->trouble.text);
		fill_int(&map, "trouble_us", reload->refused_wall_us);
	}
	fill_value(&map, "waits", waits);
	fill_uint(&map, "earlier_policies", reload->earlier_count);
	return fill_done(&map);
}

void reload_stop(struct reload *reload)
{
	struct reload_task *task = reload->task;

	timer_close(reload->look);
	reload->look = NULL;
	list_for_each(at, &reload->earlier) {
		struct earlier *earlier = container_of(at, struct earlier, link);

		inspectors_closing(earlier->inspectors);
		policies_stop(earlier->policies);
	}
	if (!task || !task->inspectors)
		return; /* on_read() or on_recorded() ends it */
	inspectors_closing(task->inspectors);
	policies_stop(task->policies);
}

void reload_close(struct reload *reload)
{
	struct reload_task *task = reload->task;

	list_for_each(at, &reload->earlier) {
		struct earlier *earlier = container_of(at, struct earlier, link);

		list_remove(&earlier->link);
		inspectors_free(earlier->inspectors);
		policies_close(earlier->policies);
		free(earlier);
	}
	free(reload->waiting);
	reload->waiting = NULL;
	if (!task || !task->inspectors)
		return;
	inspectors_free(task->inspectors);
	if (task->call)
		call_error(task->call, RPC_CODE_DRAINING, "the daemon is closing");
	task_free(task);
}
