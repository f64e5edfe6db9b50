/* session.rollback: what a client does with the kept states of its session. */
#include <stdlib.h>

#include "daemon/methods/methods.h"
#include "daemon/services.h"
#include "daemon/sessions/sessions.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"
#include "proto/wire/rpc.h"

struct rollback {
	struct session_turn turn;
	struct call *call;
	uint32_t number;
	int64_t began_us;
};

static void end_rollback(struct rollback *rollback)
{
	struct session *session = rollback->turn.session;

	session_leave(&rollback->turn);
	session_let_go(session);
	free(rollback);
}

static void answer_rollback(struct rollback *rollback)
{
	const struct session *session = rollback->turn.session;
	struct call *call = rollback->call;
	struct fill map = fill_start(&call->arena);

	fill_uint(&map, "state", session->state);
	fill_value(&map, "kept", states_to_value(&session->states, &call->arena));
	fill_int(&map, "took_us", clock_us() - rollback->began_us);
	call_result(call, fill_done(&map));
}

static void on_rollback_turn(struct session_turn *turn)
{
	struct rollback *rollback = container_of(turn, struct rollback, turn);
	const struct session *session = turn->session;

	if (session->end == SESSION_OPEN && session->state == rollback->number)
		answer_rollback(rollback);
	else if (session->end != SESSION_OPEN)
		call_error(rollback->call, RPC_CODE_NOT_FOUND, "the session has ended: %s",
			session_end_word(session->end));
	else if (session_go_back(turn, rollback->number) == 0)
		return;
	else
		call_error(rollback->call, RPC_CODE_CONFLICT,
			"state %u is not kept%s: session.list shows those that are",
			rollback->number, states_reason(&session->states));
	end_rollback(rollback);
}

void method_session_rollback(struct call *call)
{
	const char *id = value_as_text(value_get(call->params, "session"));
	struct session *session = sessions_find(call->services->sessions, id);
	struct rollback *rollback;
	int entered;

	if (!session || session->uid != call->caller.uid) {
		call_error(call, RPC_CODE_NOT_FOUND,
			"there is no such session, or it has ended: session.list shows those that "
			"are open");
		return;
	}
	rollback = calloc(1, sizeof(*rollback));
	if (!rollback) {
		call_error(call, RPC_CODE_INTERNAL, "no memory to go back");
		return;
	}
	*rollback = (struct rollback){ .turn = { .on_turn = on_rollback_turn },
		.call = call,
		.number = (uint32_t)value_as_int(value_get(call->params, "state"), 0),
		.began_us = clock_us() };
	session_hold(session);
	session_come(session, &rollback->turn);
	entered = session_enter(&rollback->turn);
	if (entered > 0) {
		on_rollback_turn(&rollback->turn);
	} else if (entered < 0) {
		call_error(call, RPC_CODE_BUSY, "too many cells of this session wait");
		session_leave(&rollback->turn);
		session_let_go(session);
		free(rollback);
	}
}
