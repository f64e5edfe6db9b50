/* session.open, session.list, session.close; and the record of each session's beginning and end. */
#include <stdlib.h>
#include <string.h>

#include "daemon/door/conn.h"
#include "daemon/gate/budgets.h"
#include "daemon/methods/methods.h"
#include "daemon/news/events.h"
#include "daemon/policy/allowances.h"
#include "daemon/record/recorder.h"
#include "daemon/request/known_names.h"
#include "daemon/request/networking.h"
#include "daemon/request/pipeline.h"
#include "daemon/request/registry.h"
#include "daemon/request/request_packages.h"
#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "daemon/settings/config.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/job/language.h"
#include "proto/ulid.h"
#include "proto/wire/rpc.h"

#define BASE_BYTES   ((size_t)2 << 20) /* env, secrets and labels have ceilings of their own */
#define RESULT_BYTES 256
#define EVENT_BYTES  4096

#define STATES_DEFAULT 2 /* kept, unless the caller asks for another number */

/* ---- the record ----------------------------------------------------------------------------- */

/* An act of the session's user, or of who closes it, in one piece of memory. */
struct session_act {
	struct recording recording;
	struct call *call; /* NULL, or it is answered when the act is on the disk */
	struct value *result;
	char params[RESULT_BYTES], text[RESULT_BYTES];
};

static void on_act_recorded(struct recording *recording, const struct err *err)
{
	struct session_act *act = container_of(recording, struct session_act, recording);

	if (err)
		log_event(LOG_LEVEL_WARNING, "session.not_recorded", LOG_STR("why", err->text));
	if (act->call && err)
		call_error(act->call, RPC_CODE_INTERNAL, "the session could not be recorded: %s",
			err->text);
	else if (act->call)
		call_result(act->call, act->result);
	free(act);
}

/* Only ids, numbers and words of ours: nothing that JSON would have to escape. */
static struct session_act *act_new(const struct session *session, const struct caller *caller,
	const char *method, enum session_end end)
{
	struct session_act *act = calloc(1, sizeof(*act));

	if (!act)
		return NULL;
	cut_printf(act->params, sizeof(act->params), "{\"session\":\"%s\"}", session->id);
	cut_printf(act->text, sizeof(act->text),
		"{\"language\":\"%s\",\"cells\":%llu,\"end\":\"%s\"}", session->language,
		(unsigned long long)session->cells, session_end_word(end));
	act->recording.kind = RECORDING_ACT;
	act->recording.done = on_act_recorded;
	act->recording.act = (struct store_act){
		.at_wall_us = clock_wall_us(),
		.uid = caller ? caller->uid : session->uid,
		.gid = caller ? caller->gid : 0,
		.pid = caller ? caller->pid : 0,
		.method = method,
		.params = act->params,
		.result = act->text,
	};
	return act;
}

/* ---- who is told ---------------------------------------------------------------------------- */

static void put_end(struct arena *arena, struct value *map, const struct session *session)
{
	value_map_put(arena, map, "session", value_text(arena, session->id));
	value_map_put(arena, map, "cells", value_uint(arena, session->cells));
	if (session->end != SESSION_OPEN)
		value_map_put(arena, map, "why", value_text(arena, session_end_word(session->end)));
}

/* To subscribers. */
static void tell_event(const struct services *services, const struct session *session)
{
	const struct event event = { .kind = EVENT_SESSION,
		.of_run = true,
		.uid = session->uid,
		.agent = session->agent,
		.task = session->task };
	struct arena arena;
	struct value *map;

	if (!events_hears(services->events, &event))
		return;
	arena_init(&arena, EVENT_BYTES);
	map = event_start(&arena, &event);
	value_map_put(&arena, map, "state",
		value_text(&arena, session->end == SESSION_OPEN ? "open" : "ended"));
	value_map_put(&arena, map, "uid", value_uint(&arena, session->uid));
	value_map_put(&arena, map, "language", value_text(&arena, session->language));
	put_end(&arena, map, session);
	events_tell(services->events, &event, map);
	arena_done(&arena);
}

/* To the client that opened it. */
static void tell_opener(const struct session *session)
{
	struct arena arena;
	struct buf buf;
	struct value *map;
	struct err err = ERR_INIT;

	if (!session->opener)
		return;
	arena_init(&arena, EVENT_BYTES);
	buf_init(&buf, EVENT_BYTES);
	map = value_map(&arena);
	put_end(&arena, map, session);
	if (rpc_write_notification(&buf, "session.ended", map, &err) == 0)
		conn_send_buf(session->opener, &buf);
	buf_done(&buf);
	arena_done(&arena);
}

/* ---- the end -------------------------------------------------------------------------------- */

void session_record_end(void *context, const struct session *session)
{
	const struct services *services = context;
	struct session_act *act =
		services->recorder ? act_new(session, NULL, "session.end", session->end) : NULL;

	log_event(LOG_LEVEL_INFO, "session.ended", LOG_STR("session", session->id),
		LOG_INT("uid", session->uid), LOG_INT("cells", (int64_t)session->cells),
		LOG_STR("why", session_end_word(session->end)));
	tell_opener(session);
	tell_event(services, session);
	if (!act)
		return;
	act->recording.durability = STORE_SOON;
	recorder_put(services->recorder, &act->recording);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* What of the params is a cell's: everything but the session's own settings. */
static struct value *base_of(struct arena *arena, const struct value *params, const char *language)
{
	struct value *base = value_map(arena);

	for (size_t i = 0; base && i < params->map.count; i++) {
		const struct value_entry *entry = &params->map.entries[i];
		const bool is_language = !strcmp(entry->key, "language");

		if (strcmp(entry->key, "idle_ms") != 0 && strcmp(entry->key, "states") != 0 &&
			value_map_put(arena, base, entry->key,
				is_language ? value_text(arena, language)
					    : value_copy(arena, entry->value)) < 0)
			return NULL;
	}
	return base;
}

#define SESSION_FILES_MIN 32
static const struct job_refusal too_few_files = { "/limits/open_files", "range",
	"/limits/open_files: a session needs 32 or more: each cell brings descriptors of its own" };

/* Checks what the cells share as if it were a run with an empty program. */
static int check_base(struct call *call, const struct value *base, struct job_spec *ret_spec,
	struct job_refusal *ret_refusal)
{
	struct value *params = value_map(&call->arena);
	struct job_bounds room;
	const struct job_bounds *bounds =
		stage_contract_bounds(call->services, &call->caller, base, &room);
	struct err err = ERR_INIT;
	int answer;

	for (size_t i = 0; params && i < base->map.count; i++)
		value_map_put(
			&call->arena, params, base->map.entries[i].key, base->map.entries[i].value);
	if (value_map_put(&call->arena, params, "code", value_text(&call->arena, "")) < 0)
		return -1;
	answer = job_spec_from_value(&call->arena, params, bounds, ret_spec, ret_refusal, &err);
	if (answer == 0 && ret_spec->limits.open_files < SESSION_FILES_MIN) {
		*ret_refusal = too_few_files;
		return 1;
	}
	return answer;
}

/* A fork has one thread, and node cannot go on without its others. */
static const char *without_states(const struct services *services, const char *language)
{
	const struct runtime *runtime = pool_find(services->pool, language);

	return runtime && runtime->config->kind == KIND_NODE ? "threads" : NULL;
}

/* NULL, or why this runtime has no sessions. */
static const char *without_sessions(const struct services *services, const struct runtime *runtime)
{
	if (!runtime_has_cells(runtime))
		return "/language: only runtimes of Python, node and bash have sessions, and only "
		       "without the setting processes";
	if (!services->host->cgroup_kill)
		return "/language: this host cannot hold a session: it needs cgroup v2, which lets "
		       "processes stand still between cells";
	return NULL;
}

static const char *language_of(const struct services *services, const struct value *params)
{
	const char *word = value_as_text(value_get(params, "language"));
	const char *alias = word ? language_of_alias(word) : NULL;

	return alias && !pool_find(services->pool, word) ? alias : word;
}

/* NULL, or why this host cannot open it. */
static const char *unfit(struct call *call, const char *language, struct job_refusal *ret_refusal)
{
	const struct services *services = call->services;
	const char *policy = value_as_text(value_get(call->params, "policy"));
	const char *why = names_unknown_runtime(services, &call->arena, language);

	*ret_refusal = (struct job_refusal){ "/language", "value", why };
	if (!why)
		ret_refusal->message = why =
			without_sessions(services, pool_find(services->pool, language));
	if (why)
		return why;
	why = names_unknown_policy(services, &call->arena, policy);
	*ret_refusal = (struct job_refusal){ "/policy", "value", why };
	return why;
}

/*
 * Whether its cells could run: each of them checks this again.  False: the call is answered.
 */
static bool cells_could_run(struct call *call, const struct job_spec *spec)
{
	const struct runtime *runtime = pool_find(call->services->pool, spec->language);
	const struct wish wish = { call->services, &call->caller, runtime, spec, &call->arena };
	struct job_refusal refusal = { 0 };
	struct chosen_packages chosen;
	enum packages_answer answer = PACKAGES_REFUSED;

	if (networking_is_allowed(&wish, &refusal))
		answer = packages_choose(&wish, &chosen, &refusal);
	if (answer == PACKAGES_CHECKED_NOW)
		call_error(call, RPC_CODE_BUSY, "%s", refusal.message);
	else if (answer == PACKAGES_REFUSED)
		call_refuse(call, &refusal);
	return answer == PACKAGES_FOUND;
}

/*
 * Opening a session counts as a run that begins, since it writes as much into the record.  What it
 * spends besides, its cells spend.  False: the call is answered.
 */
static bool may_open(struct call *call, const struct job_spec *spec)
{
	const char *full = sessions_full(call->services->sessions, call->caller.uid);
	const struct allowance_case whom = { spec->language, spec->policy, true, call->caller.uid,
		call->caller.gid };
	const struct budget_spent nothing = { .end = BUDGET_NEITHER };
	struct budgets *budgets = call->services->budgets;
	struct budget_case what = { .uid = call->caller.uid };
	struct budget_limits limits[BUDGET_SCOPE_COUNT];
	struct budget_ticket ticket;
	struct budget_refusal refusal;
	int answer;

	if (full) { /* for as long as it is so, asking again and again spends nothing */
		call_error(call, RPC_CODE_BUSY, "%s", full);
		return false;
	}
	allowances_budgets(call->services->config, &whom, limits);
	what.limits[BUDGET_UID].runs_per_minute = limits[BUDGET_UID].runs_per_minute;
	answer = budgets_admit(budgets, &what, clock_us(), &ticket, &refusal);
	if (answer > 0)
		call_busy(call, refusal.retry_after_ms,
			"the budget of uid %u is spent: %llu of %llu runs began within a minute, "
			"and opening a session counts as one; try again in %lld s, or ask an "
			"administrator to reset it",
			call->caller.uid, (unsigned long long)refusal.spent,
			(unsigned long long)refusal.most,
			(long long)(refusal.retry_after_ms + 999) / 1000);
	else if (answer < 0)
		call_error(call, RPC_CODE_INTERNAL, "no memory to look up a budget");
	else
		budgets_settle(budgets, &ticket, &nothing, clock_us());
	return answer == 0;
}

static struct value *describe_opened(struct call *call, const struct session *session)
{
	struct fill map = fill_start(&call->arena);

	fill_text(&map, "session", session->id);
	fill_text(&map, "language", session->language);
	fill_value(&map, "limits", job_limits_to_value(&call->arena, &session->limits));
	fill_int(&map, "idle_ms", session->idle_ms);
	fill_int(&map, "age_ms", session->sessions->age_ms);
	fill_int(&map, "expires_us", session_expires_wall_us(session));
	fill_optional_text(&map, "not_kept", session->states.why_not);
	return fill_done(&map);
}

static void record_opened(struct call *call, struct session *session)
{
	struct session_act *act = act_new(session, &call->caller, "session.open", SESSION_OPEN);

	if (!act) {
		session_end(session, SESSION_CLOSED);
		call_error(call, RPC_CODE_INTERNAL, "no memory for a session");
		return;
	}
	act->call = call;
	act->result = describe_opened(call, session);
	act->recording.durability = STORE_NOW;
	log_event(LOG_LEVEL_INFO, "session.opened", LOG_STR("session", session->id),
		LOG_INT("uid", session->uid), LOG_STR("language", session->language));
	tell_event(call->services, session);
	recorder_put(call->services->recorder, &act->recording);
}

static void open_checked(
	struct call *call, struct arena *arena, const struct value *base, const char *language)
{
	struct services *services = call->services;
	struct job_refusal refusal = { 0 };
	struct job_spec spec;
	const char *why = NULL;
	char id[RUN_ID_LEN + 1];
	struct err err = ERR_INIT;
	int answer = check_base(call, base, &spec, &refusal);
	struct session *session;

	if (answer > 0) {
		arena_done(arena);
		call_refuse(call, &refusal);
		return;
	}
	if (answer == 0 && (!cells_could_run(call, &spec) || !may_open(call, &spec))) {
		arena_done(arena);
		return;
	}
	if (answer < 0 || ulid_next(services->ids, id, &err) < 0) {
		arena_done(arena);
		call_error(call, RPC_CODE_INTERNAL, "no memory for a session");
		return;
	}
	session = session_open(services->sessions,
		&(struct session_start){ .id = id,
			.uid = call->caller.uid,
			.opener = call->conn,
			.arena = arena,
			.base = base,
			.language = language,
			.agent = value_as_text(value_get(base, "agent")),
			.task = value_as_text(value_get(base, "task")),
			.limits = spec.limits,
			.idle_ms = value_as_int(value_get(call->params, "idle_ms"),
				(int64_t)services->config->session_idle_ms),
			.states = (unsigned)value_as_int(
				value_get(call->params, "states"), STATES_DEFAULT),
			.without_states = without_states(services, language) },
		&why);
	if (session) {
		record_opened(call, session);
		return;
	}
	arena_done(arena);
	call_error(call, RPC_CODE_BUSY, "%s", why);
}

void method_session_open(struct call *call)
{
	const char *language = language_of(call->services, call->params);
	struct job_refusal refusal = { 0 };
	struct arena arena;
	struct value *base;

	if (admission_refused(call))
		return;
	if (unfit(call, language, &refusal)) {
		call_refuse(call, &refusal);
		return;
	}
	arena_init(&arena, BASE_BYTES);
	base = base_of(&arena, call->params, language);
	if (base) {
		open_checked(call, &arena, base, value_as_text(value_get(base, "language")));
		return;
	}
	arena_done(&arena);
	call_error(call, RPC_CODE_TOO_LARGE, "env, secrets and labels are too large");
}

/* ---- listing and closing -------------------------------------------------------------------- */

static bool may_see(const struct call *call, const struct session *session)
{
	return call->right == RIGHT_YES || session->uid == call->caller.uid;
}

static struct value *describe(struct arena *arena, const struct session *session)
{
	struct fill map = fill_start(arena);

	fill_text(&map, "session", session->id);
	fill_uint(&map, "uid", session->uid);
	fill_text(&map, "language", session->language);
	fill_optional_text(&map, "agent", session->agent);
	fill_optional_text(&map, "task", session->task);
	fill_uint(&map, "cells", session->cells);
	fill_uint(&map, "state", session->state);
	fill_value(&map, "kept", states_to_value(&session->states, arena));
	fill_value(&map, "pinned", states_pinned(&session->states, arena));
	fill_optional_text(&map, "not_kept", session->states.why_not);
	fill_bool(&map, "busy", session->now != NULL);
	fill_uint(&map, "waiting", session->waiting_count);
	fill_uint(&map, "memory_bytes", session->worker ? worker_memory(session->worker) : 0);
	fill_int(&map, "opened_us", session->opened_wall_us);
	fill_int(&map, "expires_us", session_expires_wall_us(session));
	return fill_done(&map);
}

void method_session_list(struct call *call)
{
	struct arena *arena = &call->arena;
	struct value *map = value_map(arena);
	struct value *list = value_list(arena);

	list_for_each(at, &call->services->sessions->open) {
		const struct session *session = container_of(at, struct session, link);

		if (may_see(call, session))
			value_list_add(arena, list, describe(arena, session));
	}
	value_map_put(arena, map, "sessions", list);
	call_result(call, map);
}

/* The cells of a session that ends. */
struct doomed {
	const struct session *session;
	struct request *found;
};

static int find_cell(void *context, struct request *request)
{
	struct doomed *doomed = context;

	if (request->session != doomed->session || request_is_canceled(request))
		return 0;
	doomed->found = request;
	return 1;
}

static void end_with_cells(struct call *call, struct session *session, bool is_own)
{
	struct doomed doomed = { .session = session };

	session_hold(session);
	session_end(session, is_own ? SESSION_CLOSED : SESSION_ADMIN);
	while (registry_each(call->services->runs, find_cell, &doomed))
		request_cancel(doomed.found, is_own ? KILLED_CANCEL : KILLED_ADMIN);
	session_let_go(session);
}

/* The act of session.end is the user's. */
static void close_as_admin(struct call *call, struct session *session, struct value *result)
{
	struct session_act *act = act_new(session, &call->caller, "session.close", SESSION_ADMIN);

	if (!act) {
		call_error(call, RPC_CODE_INTERNAL, "no memory to record this: nothing is closed");
		return;
	}
	act->call = call;
	act->result = result;
	act->recording.durability = STORE_NOW;
	end_with_cells(call, session, false);
	recorder_put(call->services->recorder, &act->recording);
}

void method_session_close(struct call *call)
{
	struct services *services = call->services;
	struct arena *arena = &call->arena;
	const char *id = value_as_text(value_get(call->params, "session"));
	struct session *session = sessions_find(services->sessions, id);
	struct value *map = value_map(arena);

	if (!session || !may_see(call, session)) {
		call_error(call, RPC_CODE_NOT_FOUND,
			"there is no such session, or it has ended: session.list shows those that "
			"are open");
		return;
	}
	value_map_put(arena, map, "session", value_text(arena, session->id));
	value_map_put(arena, map, "cells", value_uint(arena, session->cells));
	if (session->uid != call->caller.uid) {
		close_as_admin(call, session, map);
		return;
	}
	end_with_cells(call, session, true);
	call_result(call, map);
}
