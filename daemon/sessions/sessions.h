/*
 * Sessions: each keeps one worker from cell to cell.  A cell is a run that names the session.
 *
 *	opened ──first cell──► its worker runs ──ended well──► kept, frozen ──next cell──► runs ...
 *	   │                        │                              │
 *	   └────────────────────────┴── killed, closed, idle, old ─┴──► ended
 *
 * Cells of one session take turns, in the order in which they come.  The first one waits for a
 * worker as every run does.  Its worker stays with the session, and counts as a running one of its
 * user for as long.
 *
 * A session that has ended gives up its worker at once.  Its memory stays until the last cell that
 * knows it is gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "daemon/sessions/states.h"
#include "daemon/workers/worker.h"
#include "daemon/workers/worker_queue.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/job/job.h"

struct config;
struct conn;
struct session;
struct thread_work;

/* A cell's place in its session.  Begins as zeros. */
struct session_turn {
	struct list link; /* in session->waiting */
	struct session *session;
	/* its turn has come, or what it awaits has; or the session has ended */
	void (*on_turn)(struct session_turn *turn);
	bool is_coming; /* it is read or judged, or waits for approval; later cells wait for it */
	bool is_waiting;
	bool is_running;  /* it is this cell's turn */
	bool is_awaiting; /* ... and the session goes back to a kept state first */
};

enum session_end {
	SESSION_OPEN, /* it has not ended */
	SESSION_CLOSED,
	SESSION_IDLE,
	SESSION_AGE,
	SESSION_KILLED, /* a cell was killed, or its process ended */
	SESSION_LOST,   /* its worker died between two cells */
	SESSION_ADMIN,
	SESSION_DAEMON,
};

struct session {
	struct list link; /* in sessions->open, until it ends */
	struct sessions *sessions;
	char id[RUN_ID_LEN + 1];
	uint32_t uid;
	struct arena arena;       /* holds what the next lines point to, up to the opener */
	const struct value *base; /* the params that its cells share */
	const char *language, *agent, *task;
	/* as its cells have them in the record, where secrets are masked; NULL before the first */
	const char *masked_agent, *masked_task;
	struct conn *opener;      /* is told when it ends; NULL: it has gone */
	struct job_limits limits; /* of a cell that asks for no others; some hold for all cells */
	struct worker *worker;    /* kept between cells, else NULL */
	struct queue_entry share; /* counts the worker for its user, between cells and in them */
	struct states states;     /* that are kept */
	uint32_t state;           /* where it stands: the last cell that happened; 0: none has */
	bool keeps_next;          /* when the turn ends, the state is kept */
	bool goes_back_next;      /* when the turn ends, it goes back to where it stood */
	struct session_turn *now; /* the cell whose turn it is */
	struct list waiting;      /* cells that come or wait, in the order in which they came */
	unsigned waiting_count;   /* of these, how many wait */
	unsigned users;           /* cells that know it */
	uint64_t cells;           /* that have begun */
	uint64_t last;            /* the number of the last one */
	int64_t opened_wall_us, opened_ms, used_ms, idle_ms;
	struct timer *clock;
	enum session_end end;
};

/* What a session begins with.  The arena is taken, the rest is in it or copied. */
struct session_start {
	const char *id;
	uint32_t uid;
	struct arena *arena;
	const struct value *base;
	const char *language, *agent, *task;
	struct conn *opener;
	struct job_limits limits;
	int64_t idle_ms;
	unsigned states;            /* how many are kept */
	const char *without_states; /* why none can be, or NULL */
};

struct sessions {
	uv_loop_t *loop;
	struct list open;
	unsigned most, most_per_uid, queue_most;
	unsigned reserve; /* more beyond `most`, each for a user who has none */
	int64_t age_ms;
	char why[160]; /* no other one can be opened */
	void (*on_end)(void *context, const struct session *session);
	/* cpu time that no cell's record has: its code runs when a state is kept or gone back to */
	void (*on_spent)(void *context, const struct session *session, uint64_t cpu_us);
	void *context;
	struct thread_work *thread_work;
};

/* The owner sets the last four fields. */
void sessions_init(struct sessions *sessions, uv_loop_t *loop, const struct config *config);

/* Takes other settings, for sessions that open from now on. */
void sessions_set(struct sessions *sessions, const struct config *config);

const char *session_end_word(enum session_end end);

/* NULL, or why this user cannot open another one. */
const char *sessions_full(struct sessions *sessions, uint32_t uid);

/* NULL, and *ret_why: too many are open.  Then the arena is not taken. */
struct session *session_open(
	struct sessions *sessions, const struct session_start *start, const char **ret_why);

/* NULL: there is none, or it has ended. */
struct session *sessions_find(const struct sessions *sessions, const char *id);

/* Ends it, unless it has ended.  Its waiting cells get their turns, and find that out. */
void session_end(struct session *session, enum session_end why);

/*
 * Call it at the end of a cell.  A session that grows old while a cell runs, or waits for a worker, ends
 * with that cell.
 */
void session_end_if_old(struct session *session);

/* Ends all of them; returns how many. */
unsigned sessions_end_all(struct sessions *sessions, enum session_end why);

unsigned sessions_count(const struct sessions *sessions);

/* The connection closes.  Its sessions stay open. */
void sessions_conn_gone(struct sessions *sessions, const struct conn *conn);

/* Whoever knows a session holds it. */
void session_hold(struct session *session);
void session_let_go(struct session *session);

/* A cell comes: its place is behind those that came before. */
void session_come(struct session *session, struct session_turn *turn);

/* 1: it is this cell's turn.  0: turn->on_turn() follows.  -1: too many cells wait. */
int session_enter(struct session_turn *turn);

/* Ends the turn, the waiting or the coming.  May be called again. */
void session_leave(struct session_turn *turn);

/*
 * For whom it is the turn: begins to go back to a kept state.  0: turn->on_turn() follows when the session
 * is there, unless the turn ends before.  -1: the state is not kept, or the session has ended.
 */
int session_go_back(struct session_turn *turn, uint32_t number);

/*
 * For who has the turn: keeps the state in which the session stands, and which is not kept.  0:
 * turn->on_turn() follows.  1: it has been tried.  -1: the session has ended.
 */
int session_keep_state(struct session_turn *turn);

/* The worker for the cell whose turn it is, which the caller takes.  NULL: it has none yet. */
struct worker *session_take_worker(struct session *session);

/*
 * Keeps the worker, whose cell ended well, after states_note_gone().  `share` is the entry with which the first cell counts
 * for its user; the session takes its place in the queue.
 */
void session_keep(struct session *session, struct worker *worker, struct queue_entry *share);

/* When it ends if nothing happens, in microseconds since 1970. */
int64_t session_expires_wall_us(const struct session *session);
