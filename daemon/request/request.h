/*
 * A request: one `run` or `check` on its way through the daemon, with everything that it owns.
 *
 * It is made when its message is whole, walks the table of stages in pipeline.c, and is freed in
 * STAGE_EXIT and nowhere else.  It owns its message, its arena and its execution.  The connection may
 * go first: then `conn` is NULL and REPLY has nobody to answer.
 *
 * Where a request can be (the table in pipeline.c has every move; `~` marks the stages that can wait):
 *
 *	             ┌──────────────── approved: read again ───────────────┐
 *	             ▼                                                     │
 *	        CONTRACT~ ──► REPEAT~ ──► BUDGET ──► POLICY~ ──► APPROVAL~ ┤
 *	            │            │           │          │  └──────────┐    │ a grant covers it
 *	    refused │     known, │    spent  │   denied │             ▼    ▼
 *	            │   conflict │           │          │           CACHE~ ──► MARK~ ──► QUEUE~ ──► WORKER~
 *	            │            │           │          │             │ hit       │ not    │ gave up    │
 *	            │            │           │          │             │           │ stored │            ▼
 *	            │            │           │          │             └───────────┼────────┼────────► OUTPUT~
 *	            ▼            ▼           ▼          ▼                         ▼        ▼            │
 *	        RECORD~ ◄──────────────────────────────────────────────────────────────────────────────┘
 *	            └──► REPLY ──► EXIT
 *
 * A check goes from CONTRACT or POLICY to REPLY.  A run that waits for approval when the daemon ends goes
 * from APPROVAL or RECORD to EXIT: it waits on in the store.  What cancelling does to a request that waits
 * is its stage's business: the table names the function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/door/caller.h"
#include "daemon/gate/budgets.h"
#include "daemon/policy/policy.h"
#include "daemon/record/recorder.h"
#include "daemon/redact/redactor.h"
#include "daemon/request/claims.h"
#include "daemon/runs/execution.h"
#include "daemon/workers/worker_queue.h"
#include "proto/base/arena.h"
#include "proto/base/list.h"
#include "proto/job/job.h"
#include "proto/wire/rpc.h"

struct services;
struct conn;
struct request;
struct runtime;
struct parking;

#define REQUEST_STEPS_MAX 32

enum stage {
	STAGE_CONTRACT,
	STAGE_REPEAT,
	STAGE_BUDGET,
	STAGE_POLICY,
	STAGE_APPROVAL,
	STAGE_CACHE,
	STAGE_MARK,
	STAGE_QUEUE,
	STAGE_WORKER,
	STAGE_OUTPUT,
	STAGE_RECORD,
	STAGE_REPLY,
	STAGE_EXIT,
	STAGE_WAIT, /* not a stage: the answer of one that waits for a callback */
};

/* How far CONTRACT is. */
enum contract_state {
	CONTRACT_UNREAD, /* `spec` is empty */
	CONTRACT_READ,
	CONTRACT_NAMING, /* read; the store looks whether the id that its caller chose is free */
};

/* What the store durably knows: bytes may leave for a run that is known. */
enum request_known {
	UNKNOWN,
	KNOWN,
	KNOWN_BY_ID, /* with the id and content under which it is done only once */
};

/* What has been told, one bit each. */
enum request_told {
	TOLD_ID = 1,     /* run.started, to its client */
	TOLD_ANSWER = 2, /* its answer; a detached run goes on after that */
	TOLD_EVENT = 4,  /* its start, to the subscribers of events */
};

/* An RPC error in the making: the request could not be carried out at all. */
struct request_failure {
	bool set;
	int code; /* enum rpc_code */
	const char *message;
	const char *pointer, *reason; /* of a refused contract */
	int64_t retry_after_ms;
	const char *other_run_id; /* of a conflict: who has the id */
};

/* What goes to the disk in the place of the request and its result: with secrets masked. */
struct request_kept {
	struct redactor redactor;
	struct job_spec spec;
	struct job_result result;
	const struct value *params; /* of a refused contract */
	bool withheld;              /* nothing can be kept of it */
	bool masked;                /* redaction.c's own, like the two below */
	void (*mask)(struct request *request);
	enum stage (*then)(struct request *request);
};

struct request {
	struct list link; /* in its connection while that lives */
	struct services *services;
	struct conn *conn;
	uint32_t msgid;
	bool is_check;
	struct caller caller;
	char *bytes;       /* the params point into them */
	size_t held_bytes; /* of its caller's share of memory */
	struct arena arena;
	const struct value *params;

	enum stage stage;         /* the stage it is in */
	unsigned entered;         /* the stages that it has been in, one bit each */
	bool walking;             /* a stage runs; else it waits for a callback */
	enum limit_word canceled; /* KILLED_NOT, or why: what has not begun does not begin */
	enum request_known known;
	unsigned told; /* enum request_told */
	enum contract_state contract;
	struct claim_entry claim; /* on its id */
	unsigned held;            /* begun recordings that are on their way */
	uint8_t *cache_key;       /* NULL: none */
	struct job_spec spec;
	struct job_result result;
	const struct value *replayed; /* the record that this repeats, or NULL */
	struct blob **pins;           /* contents that its files name */
	size_t pin_count;
	struct job_refusals *refusals; /* of a check: all of them; NULL: none, or no memory */
	struct request_failure failure;
	struct request_kept kept;
	struct budget_ticket budget;
	const struct policy *policy;
	size_t texts_judged;     /* by the policy: the program, then files that it could import */
	struct parking *parking; /* it waits, or has waited, for a person's word: approvals.h */
	struct runtime *runtime;
	struct queue_entry queue;
	struct timer *patience; /* in the queue */
	struct execution execution;
	struct recording begun;
	struct recording ended;
	struct buf early; /* stream notifications that wait for `known` */
	int64_t received_us, received_wall_us, entered_us;
	struct job_step steps[REQUEST_STEPS_MAX];
};

/*
 * One that was recorded and not begun when the daemon ended, with this id: as it came, but for its
 * params, which are in the store, and without a client.  NULL: no memory.
 */
struct request *request_new_recalled(struct services *services, const struct caller *caller,
	const char *run_id, size_t arena_bytes);

/*
 * Takes `bytes` (malloc), which the message points into, and the arena that its values live in.
 * NULL: no memory; then both are given back.
 */
struct request *request_new(struct services *services, struct conn *conn,
	const struct rpc_message *message, bool is_check, char *bytes, struct arena *arena);

/* Adds a line to the trace.  `note` lives in the arena, or is NULL. */
void request_step(
	struct request *request, const char *step, const char *phase, bool ok, const char *note);

/* The same for something that happened at a time that is over, by clock_us(). */
void request_step_at(struct request *request, int64_t at_us, const struct job_step *step);

/* Turns it into an RPC error.  The first failure counts. */
void request_fail(struct request *request, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* It ends here and nothing of it has run: gives the door that follows.  Keeps `reason`, as the result does. */
enum stage request_not_run(struct request *request, enum outcome outcome, const char *reason);

/* The same for one that was cancelled before it began. */
enum stage request_give_up(struct request *request);

static inline bool request_is_canceled(const struct request *request)
{
	return request->canceled != KILLED_NOT;
}

/* Whether its params have been read into `spec`. */
static inline bool request_is_read(const struct request *request)
{
	return request->contract != CONTRACT_UNREAD;
}

/* Whether it waits in this stage for a callback. */
static inline bool request_waits_in(const struct request *request, enum stage stage)
{
	return request->stage == stage && !request->walking;
}

/* Its client left, or somebody cancels it: what it waits for is ended, where its stage can do that. */
void request_cancel(struct request *request, enum limit_word why);

/* Its client has left: detached, it goes on; else it is cancelled. */
void request_left(struct request *request);

/* Called for STAGE_EXIT alone, and for a request that has entered no stage. */
void request_free(struct request *request);
