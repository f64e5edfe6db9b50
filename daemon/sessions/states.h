/*
 * The kept states of a session, as the daemon sees them (sandbox/zygote/states.h has the other
 * side).  While one is made, or goes on, no cell runs:
 *
 *	keep      slot: KEEP ──PERMITTED──► worker goes on: JOB_KEEP ──► it forks; the state says that
 *	          it has its files; the slot moves it into its leaf: KEPT; the worker stands still
 *	go back   state: JOB_WAKE, and its leaf goes on; slot: PROMOTE.  The client has its answer now
 *	          (docs/decisions/0153).  When the slot says PROMOTED and the state has put its files
 *	          back, the rest of the worker before it is killed.  The state is kept again: it is
 *	          never used up
 *
 * Each state has a leaf of cgroups of its own, which becomes that of the worker.  So nobody enters
 * another cgroup before the answer: for that, the kernel waits 5 to 25 ms after a quiet while.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "proto/internal/slotmsg.h"
#include "proto/value.h"

struct session;
struct worker;

/* What is being done. */
enum states_step {
	STATES_REST,
	STATES_SHRINK, /* the kernel takes memory back, on a thread: it can take seconds */
	STATES_OPEN,   /* the spawner opens another leaf */
	STATES_ROOM,   /* no leaf is empty yet: something dies in it */
	STATES_PERMIT, /* the slot is asked to permit a fork */
	STATES_FORK,   /* the worker, the state and the slot are to say what they did */
	STATES_WAKE,   /* the slot makes a state the worker, and the state puts its files back */
	STATES_BACK,   /* it stands still, and is kept again */
	STATES_STAND,  /* the worker is to stand still again */
};

#define STATE_NAME_MAX 32

struct kept_state {
	uint32_t number;
	struct watch *job;             /* its job socket */
	unsigned leaf;                 /* where it stands */
	uint64_t disk_bytes;           /* its files */
	bool disk_was_full;            /* by them */
	bool is_pinned;                /* newer states do not replace it */
	char name[STATE_NAME_MAX + 1]; /* of a pinned one; "": it has none */
};

struct states {
	struct kept_state kept[SESSION_STATES_MAX]; /* the oldest first */
	unsigned count, most;
	enum states_step step;
	uint32_t number;        /* that is kept now, or gone back to */
	uint64_t disk_bytes;    /* the files of the session, after its last cell */
	bool disk_was_full;     /* by them */
	bool is_back;           /* the session has gone back to it: it is to be kept again */
	bool no_room;           /* it could not put its files back, and is to be woken again */
	bool is_last_wake;      /* then it is lost */
	unsigned said;          /* who has said that the state is kept, one bit each */
	enum kept_why files;    /* what the new state says */
	bool no_fork;           /* the worker says that it could not */
	struct kept_state made; /* the next one, as far as it is known */
	int hello;              /* our end for the worker, until it is sent; else -1 */
	int state_job;          /* the state's end of its job socket, until it is sent; else -1 */
	struct timer *clock;    /* limits each step */
	int64_t since_ms;       /* since when what the kernel is to do is looked for */
	const char *why_not;    /* why the newest state is not kept, or NULL */
	uint64_t threads;       /* if there were too many */
};

void states_init(struct states *states, unsigned most);
void states_done(struct states *states);

/* Both end with session_settled(), at once or later. */
void states_keep(struct session *session, uint32_t number);
void states_go_back(struct session *session, uint32_t number);

/* Call it at the end of a cell, before anything is decided by what is kept: states may have died in it. */
void states_note_gone(struct session *session, struct worker *worker);

bool states_have(const struct states *states, uint32_t number);

/*
 * Pins a kept state, or renames one that is pinned.  One place is always left for the newest state:
 * without it, a cell that is killed would end the session.
 */
void states_pin(struct states *states, uint32_t number, const char *name);
bool states_may_pin(const struct states *states, uint32_t number);

/* Gives one up, whose process dies.  Ends the session if its slot does not answer. */
void states_drop(struct session *session, uint32_t number);

/* For a message: why none can be kept, in brackets; or "". */
const char *states_reason(const struct states *states);

/* ---- what the session's worker reports, while it is kept -------------------------------------- */

void states_on_message(struct session *session, const struct slotmsg *msg);
void states_on_job(struct session *session, const struct job_head *head);

/* The worker has died.  False: another one does not take its place. */
bool states_on_worker_ended(struct session *session);

/* [number ...], with the one that is being kept again. */
struct value *states_to_value(const struct states *states, struct arena *arena);

/* [{state, name?} ...] */
struct value *states_pinned(const struct states *states, struct arena *arena);

/* In sessions.c: the step is over, and cells may go on. */
void session_settled(struct session *session);
