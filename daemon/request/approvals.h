/*
 * The runs that wait for approval: parks them, restores them when the daemon starts, ends their
 * waiting, and starts approved ones.  parking.h describes one of them.
 */
#pragma once

#include <stdint.h>

#include "daemon/gate/grants.h"
#include "daemon/loop/loop.h"
#include "daemon/request/parking.h"
#include "daemon/request/request.h"

struct approvals {
	struct services *services;
	struct list parked; /* oldest first */
	unsigned count;
	unsigned filling; /* approved runs whose records are being read */
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
 * Reads the request from the store if it is unread, then calls `then` with an error or NULL.  The
 * call may come at once.
 */
void approval_fill(struct request *request,
	void (*then)(struct request *request, const struct err *err, void *context), void *context);

/* Computes the digest that a grant is about: the judged texts and the policy.  -1: no memory. */
int approval_subject(const struct request *request, char ret_subject[HASH_TEXT_LEN + 1]);

/* Marks the run as decided before the decision is recorded; further decisions are rejected. */
void approval_decide(struct request *request, enum parking_decision decision, uint32_t by);

/* The decision is recorded: continues as parking->decision says. */
void approval_go_on(struct request *request);

/* The decision could not be recorded: the run waits again. */
void approval_wait_on(struct request *request);

/* Deletes the run's row on the disk before its program is sent. */
void approval_start(struct request *request);

/*
 * Returns true for a run that was approved but not started when the daemon ends: it has no end to
 * record, and the next daemon starts it.  Reports that to its clients.
 */
bool approval_begins_later(struct request *request);

/* Returns how long the run waited for approval. */
int64_t approval_waited_us(const struct request *request);
