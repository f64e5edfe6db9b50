/*
 * A call of a tool that waits for an approver, because the run's policy has the tool in its list
 * `ask`.
 *
 *	NOT_ASKED --> RECORDING --> WAITS --> DECIDING --> DECIDED
 *	                  |          |  ^-------'            ^
 *	                  |          |   not written         |
 *	                  +----------+-----------------------+  expired, or the run has ended
 *
 * It is listed and can be decided once its row is in the store.  Nothing of it outlives its run, so
 * nothing is restored when the daemon starts.  The loop leaves WAITS before it writes anything, so
 * the first of two decisions counts.
 *
 * The struct is a part of the call (run_calls.c), which owns it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/request/parking.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/value.h"

#define CALLS_ASKED_MAX 64 /* of one run, at a time */

struct call_approval;
struct policy_tool;
struct request;
struct services;

enum call_asking {
	CALL_NOT_ASKED,
	CALL_ASK_RECORDING,
	CALL_ASK_WAITS,
	CALL_ASK_DECIDING,
	CALL_ASK_DECIDED,
};

/* A decision, until its act is on the disk. */
struct call_deciding {
	struct call_approval *approval; /* NULL: the call is over */
};

struct call_approval {
	struct list link; /* in services->asked_calls, oldest first */
	struct request *request;
	struct arena *arena; /* of the call */
	enum call_asking state;
	enum parking_decision decision;
	uint32_t number; /* of the call */
	const char *tool, *rule;
	struct bytes args; /* JSON, masked */
	uint64_t masks;    /* in the arguments */
	bool effects;
	int64_t since_wall_us, until_wall_us;
	struct timer *expiry;
	struct call_deciding *deciding;
	/* The decision, as in struct parking. */
	uint32_t by;
	int64_t act;
	int64_t decided_wall_us;
	const char *reason; /* or NULL */
	/* Called from the loop when it is approved, denied or expired. */
	void (*decided)(struct call_approval *approval);
};

/* "tools.ask send_*"; NULL: the policy does not say, or no memory. */
const char *call_rule(struct arena *arena, const struct policy_tool *tool);

/* What comes with `asked` is filled in; the row is being written. */
void call_approval_start(struct call_approval *asked);

/* The row is in the store: an approver may decide until then. */
void call_approval_wait(struct call_approval *asked, int64_t until_wall_us);

/* The call is over, or goes on: nobody can decide about it any more.  May be called again. */
void call_approval_leave(struct call_approval *asked);

/* {decision, since_us, at_us, by?, act?, reason?} as JSON for its row; NULL: nobody was asked. */
const char *call_approval_json(const struct call_approval *asked);

/*
 * The call of this run that waits for an approver, or whose decision is being written; or NULL.
 * `number` 0: the oldest.
 */
struct call_approval *call_approval_find(const struct request *request, int64_t number);

/* Stops its clock for a decision, which `deciding` stands for until the next call. */
void call_approval_decide(struct call_approval *asked, enum parking_decision decision, uint32_t by,
	struct call_deciding *deciding);

/* The act is on the disk: the call goes on, or is over. */
void call_approval_decided(struct call_approval *asked, int64_t act, const char *reason);

/* The act could not be written: the call waits again. */
void call_approval_wait_on(struct call_approval *asked);

/* Which calls call_approvals_describe() lists. */
struct call_approvals_filter {
	const char *run_id; /* NULL: of all runs */
	int64_t number;     /* 0: all of the run */
};

/*
 * [{run_id, call, uid, agent?, task?, policy, tool, rule, effects, args, since_us, until_us}],
 * oldest first, at most 100.  `truncated` replaces arguments that are too long for such a list.
 */
struct value *call_approvals_describe(const struct services *services,
	const struct call_approvals_filter *filter, struct arena *arena);
