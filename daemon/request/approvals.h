/*
 * Runs that wait for a person's word, because their policy says `ask`.
 *
 * One that waits is a request in the room APPROVAL, and a row of `parked` in the store: it is told
 * to nobody before that row is on the disk.  A daemon that starts makes such requests of the rows
 * again, with nothing in them but names and times; what was asked is read when it is wanted.
 *
 *	RECORDING --> WAITS --> DECIDING --> DECIDED --> CONTRACT again, when it was approved
 *	    |           |  ^------- |                \-> RECORD, when it was denied
 *	    |           |     not on the disk
 *	    |           +--> DECIDED --> RECORD: its time is over, it is cancelled
 *	    +--> RECORD: it could not be put on the disk
 *
 * The move from WAITS is made in the loop, before anything is written: so of two who decide one is
 * first, and the other is told.  What was decided is in force with the transaction that records the
 * act.  (ASLEEP is DECIDED before the daemon started: it goes on when there are workers.)
 *
 * An approved run goes through CONTRACT and POLICY once more; its row goes, on the disk,
 * before its program is sent to a worker.  So a daemon that dies starts it again, or knows that it
 * may have run and calls it lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/gate/grants.h"
#include "daemon/loop/loop.h"
#include "daemon/request/request.h"

enum parking_state {
	PARKING_RECORDING,
	PARKING_WAITS,
	PARKING_DECIDING,
	PARKING_DECIDED,
	PARKING_ASLEEP, /* decided before the daemon started; goes on when there are workers */
};

enum parking_word {
	PARKING_NO_WORD,
	PARKING_APPROVED,
	PARKING_DENIED,
	PARKING_EXPIRED,
	PARKING_CANCELED,
};

/* In the arena of its request, and there from the time when it is parked until the request ends. */
struct parking {
	struct list link; /* in approvals->parked */
	struct request *request;
	enum parking_state state;
	enum parking_word word;
	bool hollow;  /* its params are still in the store */
	bool changed; /* somebody changed it in the store: nobody can say what it asks for */
	bool altered; /* the store has not kept them as they came: it cannot be run of them */
	char digest[HASH_TEXT_LEN + 1]; /* of the policy that asked */
	int64_t since_wall_us, until_wall_us;
	int64_t waited_us; /* once that is over */
	bool started;      /* its row goes: from here on it is a run like any other */
	struct timer *expiry;
	struct recording recording; /* that it is parked, then that it is so no more */
	/* Whose word it was. */
	uint32_t by;
	int64_t act;
	int64_t decided_wall_us;
	const char *reason; /* or NULL */
};

struct approvals {
	struct services *services;
	struct list parked; /* the oldest first */
	unsigned count;
	struct grants grants;
	struct timer *wakes; /* until those that were decided before the start have gone on */
};

void approvals_init(struct approvals *approvals, struct services *services);

/* At the start: what the store knows to wait. */
int approvals_load(struct approvals *approvals, struct store *store, struct err *err);

/* What waits leaves the house, and waits on in the store; nothing is parked for longer any more. */
void approvals_leave(struct approvals *approvals);
void approvals_done(struct approvals *approvals);

/* Why no run of this user can be parked now, or NULL. */
const char *approvals_full(const struct approvals *approvals, uint32_t uid);

/* ---- about one request ---------------------------------------------------------------------- */

/* It is on the record as parked, and now it waits; tells its client. */
void approval_wait(struct request *request);

/*
 * What was asked, read from the store if it is not here; then `then` comes, maybe at once, with what
 * went wrong or NULL.
 */
void approval_fill(struct request *request,
	void (*then)(struct request *request, const struct err *err, void *context), void *context);

/* The digest of what a word about it would be about: what was judged, and by what.  -1: no memory. */
int approval_subject(const struct request *request, char ret_subject[HASH_TEXT_LEN + 1]);

/* Somebody has said this, and it is about to be written down: nobody else can say anything. */
void approval_decide(struct request *request, enum parking_word word, uint32_t by);

/* It is decided: goes on as parking->word says. */
void approval_go_on(struct request *request);

/* The decision came to nothing: it waits on. */
void approval_wait_on(struct request *request);

/* Its client left, or somebody cancels it: request->gone is set. */
void approval_cancel(struct request *request);

/* Whether it is to wait on in the store when the daemon ends. */
bool approval_outlives(const struct request *request);

/* Before its program is sent: it is no longer one that waits, on the disk. */
void approval_start(struct request *request);

/*
 * Approved, and not begun when the daemon ends: it has no end to record, and begins in the next
 * life.  True when that is so; its clients are told.
 */
bool approval_begins_later(struct request *request);

/* How long it waited for a person, of the time since it came. */
int64_t approval_waited_us(const struct request *request);

/* {decision, by, act, at_us, reason}, for the result. */
struct value *approval_describe(struct arena *arena, const struct parking *parking);

/* It leaves the house. */
void approval_forget(struct request *request);
