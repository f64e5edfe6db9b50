/*
 * Runs that wait for a person to approve them, because their policy says `ask`.
 *
 * A waiting run is a request in STAGE_APPROVAL and a row of `parked` in the store.  It is reported
 * only after that row is on the disk.  A starting daemon makes requests from these rows again.  At
 * first they hold only names and times; the rest is read from the store when it is needed.
 *
 *	RECORDING --> WAITS --> DECIDING --> DECIDED --> CONTRACT again, when approved
 *	    |           |  ^------- |                \-> RECORD, when denied
 *	    |           |   not written
 *	    |           +--> DECIDED --> RECORD: expired or cancelled
 *	    +--> RECORD: the row could not be written
 *
 * The loop leaves WAITS before it writes anything.  So the first of two decisions counts, and the
 * second is rejected.  A decision is in force once the transaction that records the act is
 * committed.  ASLEEP means decided before the daemon started; the run continues when there are
 * workers.
 *
 * An approved run passes CONTRACT and POLICY once more.  Its row is deleted from the disk before
 * its program is sent to a worker.  If the daemon dies, the next one either starts the run again,
 * or knows that it may have run and reports it as lost.
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
	PARKING_ASLEEP, /* decided before the daemon started; continues when there are workers */
};

enum parking_word {
	PARKING_NO_WORD,
	PARKING_APPROVED,
	PARKING_DENIED,
	PARKING_EXPIRED,
	PARKING_CANCELED,
};

/*
 * Lives in the arena of its request, from the time when the run is parked until the request ends.
 */
struct parking {
	struct list link; /* in approvals->parked */
	struct request *request;
	enum parking_state state;
	enum parking_word word;
	bool hollow;  /* the params are still only in the store */
	bool changed; /* the row was changed in the store, so the original request is unknown */
	/* the store does not hold the params as they came, so the run cannot start from them */
	bool altered;
	char digest[HASH_TEXT_LEN + 1]; /* of the policy that said `ask` */
	int64_t since_wall_us, until_wall_us;
	int64_t waited_us; /* set when the waiting is over */
	bool started;      /* its row is being deleted; from here on it is a run like any other */
	struct timer *expiry;
	struct recording recording; /* first RECORDING_PARKED, then RECORDING_UNPARKED */
	/* The decision: the uid that made it, its act, time and reason. */
	uint32_t by;
	int64_t act;
	int64_t decided_wall_us;
	const char *reason; /* or NULL */
};

struct approvals {
	struct services *services;
	struct list parked; /* oldest first */
	unsigned count;
	struct grants grants;
	/* runs until those that were decided before the start have continued */
	struct timer *wakes;
};

void approvals_init(struct approvals *approvals, struct services *services);

/* At the start: restores the waiting runs of the store. */
int approvals_load(struct approvals *approvals, struct store *store, struct err *err);

/* Frees the waiting requests; their rows stay in the store.  Afterwards no run stays parked. */
void approvals_leave(struct approvals *approvals);
void approvals_done(struct approvals *approvals);

/* Returns why no run of this user can be parked now, or NULL. */
const char *approvals_full(const struct approvals *approvals, uint32_t uid);

/* ---- one request ---------------------------------------------------------------------------- */

/* Call it when the parked run is recorded.  Starts the waiting and reports it to the client. */
void approval_wait(struct request *request);

/*
 * Reads the request from the store if it is hollow, then calls `then` with an error or NULL.  The
 * call may come at once.
 */
void approval_fill(struct request *request,
	void (*then)(struct request *request, const struct err *err, void *context), void *context);

/* Computes the digest that a grant is about: the judged texts and the policy.  -1: no memory. */
int approval_subject(const struct request *request, char ret_subject[HASH_TEXT_LEN + 1]);

/* Marks the run as decided before the decision is recorded; further decisions are rejected. */
void approval_decide(struct request *request, enum parking_word word, uint32_t by);

/* The decision is recorded: continues as parking->word says. */
void approval_go_on(struct request *request);

/* The decision could not be recorded: the run waits again. */
void approval_wait_on(struct request *request);

/* Ends the waiting when the client disconnected or the run was cancelled (request->canceled). */
void approval_cancel(struct request *request);

/* Whether the run waits on in the store when the daemon ends. */
bool approval_outlives(const struct request *request);

/* Deletes the run's row on the disk before its program is sent. */
void approval_start(struct request *request);

/*
 * Returns true for a run that was approved but not started when the daemon ends: it has no end to
 * record, and the next daemon starts it.  Reports that to its clients.
 */
bool approval_begins_later(struct request *request);

/* Returns how long the run waited for approval. */
int64_t approval_waited_us(const struct request *request);

/* Returns {decision, by, act, at_us, reason} for the result. */
struct value *approval_describe(struct arena *arena, const struct parking *parking);

/* Removes the request from the waiting ones, when it ends. */
void approval_forget(struct request *request);
