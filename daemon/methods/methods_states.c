/*
 * session.rollback, session.keep and session.drop: what a client does with the kept states of its
 * session.  Each takes its turn behind the cells that came before it.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/gate/budgets.h"
#include "daemon/methods/methods.h"
#include "daemon/policy/allowances.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/wire/rpc.h"

struct state_call {
	struct session_turn turn;
	struct call *call;
	/* For an open session.  1: the call is answered.  0: on_turn() follows.  -1: the session ended. */
	int (*act)(struct state_call *state_call);
	/* The state it is about; of session.keep: that which it has tried to keep, or 0. */
	uint32_t number;
	const char *name; /* of session.keep, or NULL */
	int64_t began_us;
};

/* ---- a turn --------------------------------------------------------------------------------- */

static struct fill start_answer(const struct state_call *state_call)
{
	const struct session *session = state_call->turn.session;
	struct arena *arena = &state_call->call->arena;
	struct fill map = fill_start(arena);

	fill_uint(&map, "state", session->state);
	fill_value(&map, "kept", states_to_value(&session->states, arena));
	return map;
}

static void free_state_call(struct state_call *state_call)
{
	struct session *session = state_call->turn.session;

	session_leave(&state_call->turn);
	session_let_go(session);
	free(state_call);
}

static void on_turn(struct session_turn *turn)
{
	struct state_call *state_call = container_of(turn, struct state_call, turn);
	const struct session *session = turn->session;
	const int done = session->end == SESSION_OPEN ? state_call->act(state_call) : -1;

	if (done == 0)
		return;
	if (done < 0)
		call_error(state_call->call, RPC_CODE_NOT_FOUND, "the session has ended: %s",
			session_end_word(session->end));
	free_state_call(state_call);
}

static void take_turn(struct call *call, int (*act)(struct state_call *state_call))
{
	const char *id = value_as_text(value_get(call->params, "session"));
	struct session *session = sessions_find(call->services->sessions, id);
	struct state_call *state_call;
	int entered;

	if (!session || session->uid != call->caller.uid) {
		call_error(call, RPC_CODE_NOT_FOUND,
			"there is no such session, or it has ended: session.list shows those that "
			"are open");
		return;
	}
	state_call = calloc(1, sizeof(*state_call));
	if (!state_call) {
		call_error(call, RPC_CODE_INTERNAL, "no memory for a turn in the session");
		return;
	}
	*state_call = (struct state_call){ .turn = { .on_turn = on_turn },
		.call = call,
		.act = act,
		.number = (uint32_t)value_as_int(value_get(call->params, "state"), 0),
		.name = value_as_text(value_get(call->params, "name")),
		.began_us = clock_us() };
	session_hold(session);
	session_come(session, &state_call->turn);
	entered = session_enter(&state_call->turn);
	if (entered > 0) {
		on_turn(&state_call->turn);
	} else if (entered < 0) {
		call_error(call, RPC_CODE_BUSY, "too many cells of this session wait");
		free_state_call(state_call);
	}
}

/* ---- cpu time ------------------------------------------------------------------------------- */

void session_spent(void *context, const struct session *session, uint64_t cpu_us)
{
	const struct services *services = context;
	const struct budget_case what = {
		.uid = session->uid, .agent = session->masked_agent, .task = session->masked_task
	};

	budgets_charge_cpu(services->budgets, &what, cpu_us, clock_us());
}

/* Code of the session is to run, so a budget of cpu time holds for it as for a cell.  False: it is answered. */
static bool may_spend(struct state_call *state_call)
{
	struct call *call = state_call->call;
	const struct session *session = state_call->turn.session;
	const struct allowance_case whom = { session->language,
		value_as_text(value_get(session->base, "policy")), true, call->caller.uid,
		call->caller.gid };
	struct budget_case what = {
		.uid = session->uid, .agent = session->masked_agent, .task = session->masked_task
	};
	struct budget_refusal refusal;

	allowances_budgets(call->services->config, &whom, what.limits);
	if (!budgets_cpu_is_spent(call->services->budgets, &what, clock_us(), &refusal))
		return true;
	call_busy(call, refusal.retry_after_ms,
		"the budget of %s is spent: %llu of %llu ms of cpu time, which this would use more "
		"of; try again in %lld s, or ask an administrator to reset it",
		budget_owner(&call->arena, &what, &refusal), (unsigned long long)refusal.spent,
		(unsigned long long)refusal.most, (long long)(refusal.retry_after_ms + 999) / 1000);
	return false;
}

/* ---- going back and giving up --------------------------------------------------------------- */

static int refuse_unkept(struct state_call *state_call)
{
	call_error(state_call->call, RPC_CODE_CONFLICT,
		"state %u is not kept%s: session.list shows those that are", state_call->number,
		states_reason(&state_call->turn.session->states));
	return 1;
}

static int go_back(struct state_call *state_call)
{
	const struct session *session = state_call->turn.session;
	struct fill map;

	if (session->state != state_call->number && !may_spend(state_call))
		return 1;
	/* The client has its answer now; the next turn waits until the state is there (docs/decisions/0153). */
	if (session->state != state_call->number &&
		session_go_back(&state_call->turn, state_call->number) < 0)
		return session->end == SESSION_OPEN ? refuse_unkept(state_call) : -1;
	map = start_answer(state_call);
	fill_int(&map, "took_us", clock_us() - state_call->began_us);
	call_result(state_call->call, fill_done(&map));
	return 1;
}

/* Code of the session runs: it must be let in as a cell is. */
void method_session_rollback(struct call *call)
{
	if (!admission_refused(call))
		take_turn(call, go_back);
}

static int drop(struct state_call *state_call)
{
	struct session *session = state_call->turn.session;
	struct fill map;

	if (!states_have(&session->states, state_call->number))
		return refuse_unkept(state_call);
	states_drop(session, state_call->number);
	if (session->end != SESSION_OPEN)
		return -1;
	map = start_answer(state_call);
	call_result(state_call->call, fill_done(&map));
	return 1;
}

void method_session_drop(struct call *call)
{
	take_turn(call, drop);
}

/* ---- keeping -------------------------------------------------------------------------------- */

/* Why the state in which it stands is not kept, by the words of states->why_not. */
static const struct {
	const char *word, *text;
} whys[] = {
	{ "threads", "the program has more than one thread, and a state holds one" },
	{ "files", "its files have more than 64 MiB, or are too many" },
	{ "host", "this host has no cgroups for it" },
	{ "memory", "there is no memory for it" },
	{ "fork", "there is no memory for it" },
};

static const char *why_text(const char *word)
{
	for (size_t i = 0; word && i < COUNT_OF(whys); i++)
		if (strcmp(word, whys[i].word) == 0)
			return whys[i].text;
	return "its process has ended";
}

/* What does not depend on the state, or NULL. */
static const char *why_no_pin(const struct session *session)
{
	if (!session->state)
		return "no cell has happened yet: a new session is the same";
	if (session->states.most == 0 && session->states.why_not)
		return "the runtime has threads, and a state holds one";
	if (session->states.most == 0)
		return "the session keeps no states: open one with `states`, at least 2";
	if (!states_may_pin(&session->states, session->state))
		return "one of the places for states stays free for the newest: give up a pinned "
		       "state with session.drop, or open a session with more `states`";
	return NULL;
}

/* Its state was given up, or could not be kept before. */
static int try_to_keep(struct state_call *state_call)
{
	state_call->number = state_call->turn.session->state;
	return session_keep_state(&state_call->turn);
}

static int refuse_keep(struct state_call *state_call, const char *why)
{
	call_error(state_call->call, RPC_CODE_CONFLICT, "state %u cannot be kept: %s",
		state_call->turn.session->state, why);
	return 1;
}

static int keep(struct state_call *state_call)
{
	struct session *session = state_call->turn.session;
	const char *why = why_no_pin(session);
	struct fill map;

	if (why)
		return refuse_keep(state_call, why);
	if (!states_have(&session->states, session->state) && !state_call->number) {
		int tried;

		if (!may_spend(state_call))
			return 1;
		tried = try_to_keep(state_call);
		if (tried <= 0)
			return tried;
	}
	if (!states_have(&session->states, session->state))
		return refuse_keep(state_call, why_text(session->states.why_not));
	states_pin(&session->states, session->state, state_call->name);
	map = start_answer(state_call);
	fill_value(&map, "pinned", states_pinned(&session->states, &state_call->call->arena));
	call_result(state_call->call, fill_done(&map));
	return 1;
}

void method_session_keep(struct call *call)
{
	if (!admission_refused(call))
		take_turn(call, keep);
}
