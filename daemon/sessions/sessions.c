#include "daemon/sessions/sessions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/settings/config.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

static const char *const end_words[] = {
	[SESSION_OPEN] = "open",
	[SESSION_CLOSED] = "closed",
	[SESSION_IDLE] = "idle",
	[SESSION_AGE] = "age",
	[SESSION_KILLED] = "killed",
	[SESSION_LOST] = "lost",
	[SESSION_ADMIN] = "admin",
	[SESSION_DAEMON] = "daemon",
};

void sessions_init(struct sessions *sessions, uv_loop_t *loop, const struct config *config)
{
	*sessions = (struct sessions){ .loop = loop,
		.most = (unsigned)config->sessions_max,
		.reserve = (unsigned)config->workers_reserve };
	sessions_set(sessions, config);
	list_init(&sessions->open);
}

void sessions_set(struct sessions *sessions, const struct config *config)
{
	sessions->most_per_uid = (unsigned)config->sessions_per_uid;
	sessions->queue_most = (unsigned)config->session_queue;
	sessions->age_ms = (int64_t)config->session_ms;
}

const char *session_end_word(enum session_end end)
{
	return end_words[end];
}

static void free_when_unknown(struct session *session)
{
	if (session->users || session->end == SESSION_OPEN)
		return;
	arena_done(&session->arena);
	free(session);
}

void session_hold(struct session *session)
{
	session->users++;
}

void session_let_go(struct session *session)
{
	session->users--;
	free_when_unknown(session);
}

struct session *sessions_find(const struct sessions *sessions, const char *id)
{
	list_for_each(at, &sessions->open) {
		struct session *session = container_of(at, struct session, link);

		if (!strcmp(session->id, id))
			return session;
	}
	return NULL;
}

/* ---- cpu time between cells ------------------------------------------------------------------ */

static void charge(struct session *session)
{
	const struct sessions *sessions = session->sessions;
	const uint64_t used_us = session->worker ? worker_take_cpu_us(session->worker) : 0;

	if (used_us)
		sessions->on_spent(sessions->context, session, used_us);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void stop_waiting(struct session_turn *turn)
{
	list_remove(&turn->link);
	turn->session->waiting_count -= turn->is_waiting;
	turn->is_coming = false;
	turn->is_waiting = false;
}

static struct session_turn *first_turn(struct session *session)
{
	return list_is_empty(&session->waiting)
		       ? NULL
		       : container_of(list_first(&session->waiting), struct session_turn, link);
}

/* Each finds that the session has ended, and may be gone after the call. */
static void turn_away(struct session *session)
{
	struct session_turn *turn;

	while ((turn = first_turn(session))) {
		bool waits = turn->is_waiting;

		stop_waiting(turn);
		if (waits)
			turn->on_turn(turn);
	}
	if (session->now && session->now->is_awaiting) {
		session->now->is_awaiting = false;
		session->now->on_turn(session->now);
	}
}

void session_end(struct session *session, enum session_end why)
{
	struct worker *worker = session->worker;

	if (session->end != SESSION_OPEN)
		return;
	session_hold(session);
	charge(session);
	session->end = why;
	session->worker = NULL;
	list_remove(&session->link);
	timer_close(session->clock);
	session->clock = NULL;
	states_done(&session->states);
	if (worker)
		worker_release(worker);
	queue_leave(&session->share);
	session->sessions->on_end(session->sessions->context, session);
	turn_away(session);
	session_let_go(session);
}

unsigned sessions_end_all(struct sessions *sessions, enum session_end why)
{
	unsigned count = 0;
	struct list *first;

	for (; (first = list_first(&sessions->open)); count++)
		session_end(container_of(first, struct session, link), why);
	return count;
}

unsigned sessions_count(const struct sessions *sessions)
{
	unsigned count = 0;

	list_for_each(at, &sessions->open)
		count++;
	return count;
}

void sessions_conn_gone(struct sessions *sessions, const struct conn *conn)
{
	list_for_each(at, &sessions->open) {
		struct session *session = container_of(at, struct session, link);

		if (session->opener == conn)
			session->opener = NULL;
	}
}

/* ---- its clock ------------------------------------------------------------------------------ */

/* A cell in progress has limits of its own, also for its approval; idleness counts from its end. */
static int64_t ends_ms(const struct session *session)
{
	int64_t age = session->opened_ms + session->sessions->age_ms;
	int64_t idle = session->used_ms + session->idle_ms;

	return session->now || !list_is_empty(&session->waiting) || age < idle ? age : idle;
}

int64_t session_expires_wall_us(const struct session *session)
{
	return clock_wall_us() + (ends_ms(session) - clock_ms()) * 1000;
}

static bool is_old(const struct session *session)
{
	return clock_ms() - session->opened_ms >= session->sessions->age_ms;
}

void session_end_if_old(struct session *session)
{
	if (is_old(session))
		session_end(session, SESSION_AGE);
}

/* A cell has the worker, or is to have one.  Until its end the session counts for its user. */
static bool is_used(const struct session *session)
{
	return session->now && !session->worker;
}

static void on_clock(void *owner)
{
	struct session *session = owner;
	int64_t now_ms = clock_ms();

	if (now_ms < ends_ms(session))
		timer_set(session->clock, (uint64_t)(ends_ms(session) - now_ms));
	else if (!is_used(session))
		session_end(session, is_old(session) ? SESSION_AGE : SESSION_IDLE);
}

static void set_clock(struct session *session)
{
	int64_t left_ms = ends_ms(session) - clock_ms();

	timer_set(session->clock, left_ms > 0 ? (uint64_t)left_ms : 1);
}

/* ---- opening -------------------------------------------------------------------------------- */

static unsigned open_of(const struct sessions *sessions, uint32_t uid, unsigned *ret_all)
{
	unsigned own = 0;

	*ret_all = 0;
	list_for_each(at, &sessions->open) {
		*ret_all += 1;
		own += container_of(at, struct session, link)->uid == uid;
	}
	return own;
}

const char *sessions_full(struct sessions *sessions, uint32_t uid)
{
	unsigned all;
	unsigned own = open_of(sessions, uid, &all);

	if (own >= sessions->most_per_uid)
		cut_printf(sessions->why, sizeof(sessions->why),
			"this user has %u sessions open, which is all that the setting "
			"sessions_per_uid allows: close one of them",
			own);
	else if (all >= sessions->most + (own ? 0 : sessions->reserve))
		cut_printf(sessions->why, sizeof(sessions->why),
			"%u sessions are open, which is all that the setting sessions_max allows%s",
			all, own ? "" : ", and workers_reserve beyond it");
	else
		return NULL;
	return sessions->why;
}

struct session *session_open(
	struct sessions *sessions, const struct session_start *start, const char **ret_why)
{
	struct session *session;

	*ret_why = sessions_full(sessions, start->uid);
	if (*ret_why)
		return NULL;
	*ret_why = "no memory for a session";
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	session->sessions = sessions;
	session->opened_ms = session->used_ms = clock_ms();
	session->idle_ms = start->idle_ms;
	session->clock = timer_new(sessions->loop,
		(uint64_t)(start->idle_ms < sessions->age_ms ? start->idle_ms : sessions->age_ms),
		0, on_clock, session);
	if (!session->clock) {
		free(session);
		return NULL;
	}
	memcpy(session->id, start->id, RUN_ID_LEN);
	session->uid = start->uid;
	session->arena = *start->arena;
	session->base = start->base;
	session->language = start->language;
	session->agent = start->agent;
	session->task = start->task;
	session->opener = start->opener;
	session->limits = start->limits;
	session->opened_wall_us = clock_wall_us();
	states_init(&session->states, start->without_states ? 0 : start->states);
	session->states.why_not = start->without_states;
	list_init(&session->waiting);
	list_append(&sessions->open, &session->link);
	return session;
}

/* ---- turns ---------------------------------------------------------------------------------- */

static void begin_turn(struct session *session, struct session_turn *turn)
{
	turn->is_running = true;
	session->now = turn;
}

void session_come(struct session *session, struct session_turn *turn)
{
	turn->session = session;
	turn->is_coming = true;
	list_append(&session->waiting, &turn->link);
}

int session_enter(struct session_turn *turn)
{
	struct session *session = turn->session;

	if (!session->now && session->states.step == STATES_REST && first_turn(session) == turn) {
		stop_waiting(turn);
		begin_turn(session, turn);
		return 1;
	}
	if (session->waiting_count >= session->sessions->queue_most)
		return -1;
	turn->is_coming = false;
	turn->is_waiting = true;
	session->waiting_count++;
	return 0;
}

/* The first one waits, comes, or is missing. */
static void serve_next(struct session *session)
{
	struct session_turn *turn = first_turn(session);

	if (session->end != SESSION_OPEN || session->now || session->states.step != STATES_REST ||
		!turn || !turn->is_waiting)
		return;
	stop_waiting(turn);
	begin_turn(session, turn);
	turn->on_turn(turn);
}

/* What a cell left to do comes before the next one. */
static void next_turn(struct session *session)
{
	const bool goes_back = session->goes_back_next;
	const bool keeps = session->keeps_next;

	session->now = NULL;
	session->used_ms = clock_ms();
	session->goes_back_next = session->keeps_next = false;
	session_end_if_old(session);
	if (session->end != SESSION_OPEN)
		return;
	set_clock(session);
	if (goes_back && !states_have(&session->states, session->state))
		session_end(session, SESSION_LOST); /* the state has died since the cell's end */
	else if (goes_back)
		states_go_back(session, session->state);
	else if (keeps)
		states_keep(session, session->state);
	else
		serve_next(session);
}

/* A cell that was not run has left; the one behind it may be first now. */
static void step_aside(struct session *session)
{
	session->used_ms = clock_ms();
	if (session->end != SESSION_OPEN)
		return;
	set_clock(session);
	serve_next(session);
}

static void go_on_with(struct session_turn *turn)
{
	turn->is_awaiting = false;
	turn->on_turn(turn);
}

void session_settled(struct session *session)
{
	struct session_turn *turn = session->now;

	charge(session);
	session->used_ms = clock_ms();
	if (!turn)
		serve_next(session);
	else if (turn->is_awaiting)
		go_on_with(turn);
}

int session_go_back(struct session_turn *turn, uint32_t number)
{
	struct session *session = turn->session;

	if (session->end != SESSION_OPEN || !session->worker ||
		!states_have(&session->states, number))
		return -1;
	states_go_back(session, number);
	if (session->end != SESSION_OPEN)
		return -1;
	turn->is_awaiting = true;
	return 0;
}

int session_keep_state(struct session_turn *turn)
{
	struct session *session = turn->session;

	assert(session->worker && !states_have(&session->states, session->state));

	states_keep(session, session->state);
	if (session->end != SESSION_OPEN)
		return -1;
	turn->is_awaiting = session->states.step != STATES_REST;
	return turn->is_awaiting ? 0 : 1;
}

void session_leave(struct session_turn *turn)
{
	struct session *session = turn->session;

	if (!turn->is_coming && !turn->is_waiting && !turn->is_running)
		return;
	session_hold(session);
	if (turn->is_running) {
		turn->is_running = false;
		turn->is_awaiting = false;
		next_turn(session);
	} else {
		stop_waiting(turn);
		step_aside(session);
	}
	session_let_go(session);
}

/* ---- its worker ----------------------------------------------------------------------------- */

static void pass_over_slot(void *owner, const struct slotmsg *msg)
{
	(void)owner;
	(void)msg;
}

static void on_job_message(void *owner, const struct job_head *head, const char *body)
{
	struct session *session = owner;

	(void)body;
	session_hold(session);
	if (session->states.step != STATES_REST)
		states_on_job(session, head);
	session_let_go(session);
}

static void pass_over_output(void *owner, bool is_stderr)
{
	(void)owner;
	(void)is_stderr;
}

static void on_state(void *owner, const struct slotmsg *msg)
{
	session_hold(owner);
	states_on_message(owner, msg);
	session_let_go(owner);
}

/* It stands still, so only the kernel or a user of the host can have killed it; or we have. */
static void on_worker_ended(void *owner, const struct slotmsg *msg)
{
	(void)msg;
	session_hold(owner);
	if (!states_on_worker_ended(owner))
		session_end(owner, SESSION_LOST);
	session_let_go(owner);
}

static void on_worker_gone(void *owner, const char *why)
{
	struct session *session = owner;

	(void)why;
	charge(session);
	session->worker = NULL;
	session_end(session, SESSION_LOST);
}

static const struct worker_events kept_events = {
	.adjusted = pass_over_slot,
	.job_message = on_job_message,
	.output = pass_over_output,
	.ended = on_worker_ended,
	.collected = pass_over_slot,
	.cell_ended = pass_over_slot,
	.state = on_state,
	.gone = on_worker_gone,
};

struct worker *session_take_worker(struct session *session)
{
	struct worker *worker = session->worker;

	session->worker = NULL;
	return worker;
}

void session_keep(struct session *session, struct worker *worker, struct queue_entry *share)
{
	assert(!session->worker && session->end == SESSION_OPEN);

	session->worker = worker;
	if (share->fair.lane)
		queue_hand_over(share, &session->share);
	worker_keep(worker, &kept_events, session);
}
