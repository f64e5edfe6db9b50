#include "daemon/request/cell.h"

#include <string.h>

#include "daemon/request/stages.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "daemon/settings/config.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/runtime.h"
#include "daemon/workers/zygote.h"
#include "proto/base/container.h"
#include "proto/wire/rpc.h"

/* ---- its params ----------------------------------------------------------------------------- */

#define CELL_NUMBER_MAX (1 << 30) /* of a replayed cell; states have these numbers, too */

/* Keys that are settled when a session is opened, or that mean nothing in a cell. */
static const struct settled {
	const char *key;
	const char *why;
} settled[] = {
	{ "policy", "is settled when the session is opened" },
	{ "agent", "is settled when the session is opened" },
	{ "env", "is settled when the session is opened; a program can change its own" },
	{ "secrets", "is settled when the session is opened" },
	{ "entrypoint", "a cell of a session is no file" },
	{ "deterministic", "a session is not deterministic: its cells build on one another" },
	{ "packages", "is settled when the session is opened" },
	{ "cache", "the result of a cell is not cached: it depends on the cells before it" },
};

/* Limits of the session's processes, which are there before the cell. */
static const char *const settled_limits[] = { "memory_bytes", "disk_bytes", "inodes", "pids",
	"open_files", "file_bytes", "cpu_percent" };

static int refuse(struct request *request, struct job_refusal *ret_refusal, const char *key,
	const char *reason, const char *why)
{
	const char *pointer = arena_printf(&request->arena, "/%s", key);

	*ret_refusal = (struct job_refusal){ pointer, reason,
		arena_printf(&request->arena, "/%s: %s", key, why) };
	return pointer && ret_refusal->message ? 1 : -1;
}

/* Keys that say where in its session a cell stands. */
static const char *const of_its_place[] = { "session", "from", "atomic", "network" };

/* The first of the rows whose key the cell has, or NULL. */
static const struct settled *find_settled(
	const struct request *request, const struct settled *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (value_get(request->params, rows[i].key))
			return &rows[i];
	return NULL;
}

/* "denied" is what a session without a network has. */
static bool asks_for_another_network(const struct request *request)
{
	const struct value *network = value_get(request->params, "network");
	const struct value *shared = value_get(request->session->base, "network");

	return value_is(network, VALUE_MAP) || (network && value_is(shared, VALUE_MAP));
}

static int check_settled(struct request *request, struct job_refusal *ret_refusal)
{
	const struct value *limits = value_get(request->params, "limits");
	const struct value *trace = value_get(request->params, "trace");
	const struct settled *key = find_settled(request, settled, COUNT_OF(settled));

	if (key)
		return refuse(request, ret_refusal, key->key, "conflict", key->why);
	for (size_t i = 0; i < COUNT_OF(settled_limits); i++)
		if (value_get(limits, settled_limits[i]))
			return refuse(request, ret_refusal,
				arena_printf(&request->arena, "limits/%s", settled_limits[i]),
				"conflict", "holds for a whole session: set it in session.open");
	if (asks_for_another_network(request))
		return refuse(request, ret_refusal, "network", "conflict",
			"is settled when the session is opened");
	if (value_as_text(trace) && !strcmp(value_as_text(trace), "files"))
		return refuse(request, ret_refusal, "trace", "conflict",
			"the files that a cell opens are not noted");
	return 0;
}

static int check_language(struct request *request, struct job_refusal *ret_refusal)
{
	const char *language = value_as_text(value_get(request->params, "language"));

	if (!language || !strcmp(language, request->session->language))
		return 0;
	return refuse(request, ret_refusal, "language", "conflict",
		arena_printf(&request->arena, "the session runs %s", request->session->language));
}

/* A shell's tools and images go over a descriptor with a high number: see CHANNEL_FD_SESSION. */
#define SHELL_FILES_MIN 200

static int check_files(struct request *request, struct job_refusal *ret_refusal)
{
	const struct session *session = request->session;
	const struct runtime *runtime = pool_find(request->services->pool, session->language);
	const bool tools = value_is(value_get(request->params, "tools"), VALUE_LIST);

	if (!runtime || runtime->config->kind != KIND_COMMAND ||
		session->limits.open_files >= SHELL_FILES_MIN ||
		!(tools || value_as_bool(value_get(request->params, "display"), false)))
		return 0;
	return refuse(request, ret_refusal, tools ? "tools" : "display", "conflict",
		"cells of bash with tools or display need a session whose limit open_files is 200 "
		"or more");
}

/* Adds the entries of `from` whose keys the map does not have. */
static int add_missing(struct arena *arena, struct value *map, const struct value *from)
{
	for (size_t i = 0; from && i < from->map.count; i++) {
		const struct value_entry *entry = &from->map.entries[i];

		if (!value_get_len(map, entry->key, entry->key_len) &&
			value_map_put_len(arena, map, entry->key, entry->key_len, entry->value) < 0)
			return -1;
	}
	return 0;
}

/* The session's limits, where the cell asks for no others. */
static struct value *limits_of(struct request *request)
{
	struct arena *arena = &request->arena;
	const struct value *own = value_get(request->params, "limits");
	const struct value *shared = value_get(request->session->base, "limits");
	struct value *both = value_map(arena);

	if (!both || (own && !value_is(own, VALUE_MAP)))
		return NULL; /* of another shape: the contract refuses it */
	if (add_missing(arena, both, own) < 0 || add_missing(arena, both, shared) < 0)
		return NULL;
	return both;
}

static int complete(struct request *request)
{
	struct arena *arena = &request->arena;
	struct value *all = value_map(arena);
	struct value *limits = limits_of(request);

	if (!all || (limits && value_map_put(arena, all, "limits", limits) < 0) ||
		add_missing(arena, all, request->params) < 0 ||
		add_missing(arena, all, request->session->base) < 0)
		return -1;
	request->params = all;
	return 0;
}

static bool is_settled(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(settled); i++)
		if (!strcmp(key, settled[i].key))
			return true;
	return false;
}

static bool is_any_of(const char *const *keys, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static struct value *own_limits(struct arena *arena, const struct value *limits)
{
	struct value *own = value_map(arena);

	for (size_t i = 0; own && value_is(limits, VALUE_MAP) && i < limits->map.count; i++) {
		const struct value_entry *entry = &limits->map.entries[i];

		if (!is_any_of(settled_limits, COUNT_OF(settled_limits), entry->key) &&
			value_map_put(arena, own, entry->key, entry->value) < 0)
			return NULL;
	}
	return own;
}

struct value *cell_params_again(
	struct arena *arena, const struct value *params, const char *session)
{
	struct value *again = value_map(arena);

	if (!again || value_map_put(arena, again, "session", value_text(arena, session)) < 0)
		return NULL;
	for (size_t i = 0; i < params->map.count; i++) {
		const struct value_entry *entry = &params->map.entries[i];
		const bool is_limits = !strcmp(entry->key, "limits");

		if (is_settled(entry->key) ||
			is_any_of(of_its_place, COUNT_OF(of_its_place), entry->key))
			continue;
		if (value_map_put(arena, again, entry->key,
			    is_limits ? own_limits(arena, entry->value) : entry->value) < 0)
			return NULL;
	}
	return again;
}

static int refuse_unknown(struct request *request, struct job_refusal *ret_refusal)
{
	request->failure = (struct request_failure){ .set = true, .code = RPC_CODE_NOT_FOUND };
	if (refuse(request, ret_refusal, "session", "ended",
		    "there is no such session, or it has ended: open another one") < 0)
		return -1;
	request->failure.message = ret_refusal->message;
	return 1;
}

/* Keys that only a cell has. */
static int refuse_alone(struct request *request, struct job_refusal *ret_refusal)
{
	if (value_get(request->params, "from"))
		return refuse(request, ret_refusal, "from", "conflict",
			"only a cell of a session begins in a kept state");
	if (value_get(request->params, "atomic"))
		return refuse(request, ret_refusal, "atomic", "conflict",
			"only a cell of a session can be undone");
	return 0;
}

int cell_bind(struct request *request, struct job_refusal *ret_refusal)
{
	const char *id = value_as_text(value_get(request->params, "session"));
	struct session *session;
	int answer;

	if (request->session)
		return 0; /* bound before it waited for approval */
	if (!id)
		return refuse_alone(request, ret_refusal);
	session = sessions_find(request->services->sessions, id);
	if (!session || session->uid != request->caller.uid)
		return refuse_unknown(request, ret_refusal);
	session_hold(session);
	request->session = session;
	if (!request->is_check)
		session_come(session, &request->turn);
	answer = check_settled(request, ret_refusal);
	if (!answer)
		answer = check_language(request, ret_refusal);
	if (!answer)
		answer = check_files(request, ret_refusal);
	return answer ? answer : complete(request);
}

/* ---- its turn ------------------------------------------------------------------------------- */

static enum cell_turn begin_turn(struct request *request)
{
	struct session *session = request->session;
	struct worker *worker;

	if (session->end != SESSION_OPEN)
		return CELL_ENDED;
	if (request->spec.from && request->spec.from != session->state) {
		if (session_go_back(&request->turn, (uint32_t)request->spec.from) == 0)
			return CELL_WAITS;
		return session->end == SESSION_OPEN ? CELL_NOT_KEPT : CELL_ENDED;
	}
	if (request->spec.atomic && !states_have(&session->states, session->state))
		return CELL_NOT_ATOMIC;
	request->from = session->state;
	worker = session_take_worker(session);
	if (!worker)
		return CELL_FIRST;
	request->execution.worker = worker;
	request->result.metrics.warm = true;
	request->runtime->runs++;
	worker->zygote->runs++;
	return CELL_NEXT;
}

enum cell_turn cell_enter(struct request *request)
{
	int answer;

	if (request->session->end != SESSION_OPEN)
		return CELL_ENDED;
	request->turn.on_turn = stage_queue_on_turn;
	answer = session_enter(&request->turn);
	if (answer > 0)
		return begin_turn(request);
	return answer < 0 ? CELL_CROWDED : CELL_WAITS;
}

enum cell_turn cell_resume(struct request *request)
{
	return begin_turn(request);
}

/*
 * A cell that is replayed keeps its number, which is in the names of files in tracebacks.  Numbers of a
 * session only grow.
 */
static uint64_t number_of(const struct request *request)
{
	const uint64_t next = request->session->last + 1;
	const struct value *then = value_get(request->replayed, "session");
	const int64_t number = value_as_int(value_get(then, "cell"), 0);

	return number > (int64_t)next && number <= CELL_NUMBER_MAX ? (uint64_t)number : next;
}

void cell_begin(struct request *request)
{
	struct session *session = request->session;

	request->cell = session->last = number_of(request);
	session->cells++;
	request->execution.cell = request->cell;
	request->execution.session_limits = &session->limits;
	request->execution.disk_was_full = session->states.disk_was_full;
}

/* ---- its end -------------------------------------------------------------------------------- */

static void describe(struct request *request, bool went_back)
{
	const struct session *session = request->session;
	struct arena *arena = &request->arena;
	struct value *map = value_map(arena);
	const bool ended = session->end != SESSION_OPEN;

	value_map_put(arena, map, "id", value_text(arena, session->id));
	value_map_put(arena, map, "cell", value_uint(arena, request->cell));
	value_map_put(arena, map, "from", value_uint(arena, request->from));
	value_map_put(
		arena, map, "state", ended ? value_nil(arena) : value_uint(arena, session->state));
	if (ended)
		value_map_put(arena, map, "why", value_text(arena, session_end_word(session->end)));
	else
		value_map_put(arena, map, "kept", states_to_value(&session->states, arena));
	if (went_back)
		value_map_put(arena, map, "went_back", value_uint(arena, session->state));
	request->result.session = map;
}

static void keep_worker(struct request *request)
{
	struct execution *execution = &request->execution;
	struct session *session = request->session;
	const struct job_spec *masked = &request->masked.spec;

	if (masked->agent && !session->masked_agent)
		session->masked_agent = arena_strdup(&session->arena, masked->agent);
	if (masked->task && !session->masked_task)
		session->masked_task = arena_strdup(&session->arena, masked->task);
	session_keep(session, execution->worker, &request->queue);
	execution->worker = NULL;
}

/* The process is dead, and its slot has said so; where the session stood before is kept. */
static bool can_go_back(const struct request *request)
{
	const struct session *session = request->session;
	const struct worker *worker = request->execution.worker;

	return session->end == SESSION_OPEN && worker && worker->ended && !worker->doubted &&
	       states_have(&session->states, session->state);
}

/* It waits for the next cell.  While a thread worked for calls of this one, it may have died. */
static bool stands(const struct request *request)
{
	const struct execution *execution = &request->execution;

	return request->session->end == SESSION_OPEN && execution->stands && execution->worker &&
	       !execution->worker->ended;
}

/* Nothing has happened in it, so a fresh worker can take the next cell. */
static bool can_begin_anew(const struct session *session)
{
	return session->end == SESSION_OPEN && !session->state;
}

/* Its caller wants it undone, and where the session stood before is still kept. */
static bool is_unwanted(const struct request *request)
{
	return request->spec.atomic && request->result.outcome != OUTCOME_OK &&
	       states_have(&request->session->states, request->session->state);
}

void cell_over(struct request *request)
{
	struct execution *execution = &request->execution;
	struct session *session = request->session;
	bool is_standing;

	session_end_if_old(session);
	is_standing = stands(request);
	if (execution->worker && session->end == SESSION_OPEN)
		states_note_gone(session, execution->worker);
	if (is_standing && !is_unwanted(request)) {
		keep_worker(request);
		session->states.disk_bytes = execution->facts.disk_bytes;
		session->states.disk_was_full =
			execution->facts.disk_full || execution->facts.inodes_full;
		session->state = (uint32_t)request->cell;
		session->keeps_next = session->states.most > 0;
	} else if (is_standing || can_go_back(request)) {
		keep_worker(request);
		session->goes_back_next = true;
	} else if (!can_begin_anew(session)) {
		session_end(session, SESSION_KILLED);
	}
	describe(request, session->goes_back_next || can_begin_anew(session));
}

void cell_output_broke(struct request *request)
{
	struct session *session = request->session;

	if (!request->spec.atomic || !session->keeps_next || session->end != SESSION_OPEN ||
		!states_have(&session->states, request->from))
		return;
	session->state = request->from;
	session->keeps_next = false;
	session->goes_back_next = true;
	describe(request, true);
}

void cell_leave(struct request *request)
{
	session_leave(&request->turn);
}

void cell_unbind(struct request *request)
{
	struct session *session = request->session;

	if (!session)
		return;
	session_leave(&request->turn);
	request->session = NULL;
	session_let_go(session);
}
