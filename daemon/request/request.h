/*
 * A request: one `run` or `check` in the daemon, with everything that it owns.
 *
 * It is created when its message is complete, passes the stages of the table in pipeline.c, and is
 * freed in STAGE_EXIT.  It owns its message, its arena and its execution.  The connection may
 * close first: then `conn` is NULL, and REPLY sends no answer.
 *
 * The moves of a request (the table in pipeline.c has all of them; `~` marks stages that can wait):
 *
 *          ┌──────────────── approved: read again ───────────────┐
 *          ▼                                                     │
 *     CONTRACT~ ──► REPEAT~ ──► BUDGET ──► POLICY~ ──► APPROVAL~ ┤
 *         │            │           │          │  └──────────┐    │ a grant covers it
 * refused │     known, │    spent  │   denied │             ▼    ▼
 *         │   conflict │           │          │           CACHE~ ──► BEGIN~ ─► QUEUE~ ──► WORKER~
 *         │            │           │          │             │ hit       │ not    │ gave up    │
 *         │            │           │          │             │           │ stored │            ▼
 *         │            │           │          │             └───────────┼────────┼────────► OUTPUT~
 *         ▼            ▼           ▼          ▼                         ▼        ▼            │
 *     RECORD~ ◄──────────────────────────────────────────────────────────────────────────────┘
 *         └──► REPLY ──► EXIT
 *
 * A check goes from CONTRACT or POLICY to REPLY.  A run that is denied or never approved goes from
 * APPROVAL to RECORD.  When the daemon ends, a run that waits for approval goes from APPROVAL or
 * RECORD to EXIT, and the store keeps it; a run that waits in BEGIN goes to REPLY.  When a waiting
 * request is cancelled, the table names the function that ends its waiting.
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
#include "daemon/request/wish.h"
#include "daemon/runs/execution.h"
#include "daemon/sessions/sessions.h"
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
struct run_calls;
struct networking;

#define REQUEST_STEPS_MAX 32

enum stage {
	STAGE_CONTRACT,
	STAGE_REPEAT,
	STAGE_BUDGET,
	STAGE_POLICY,
	STAGE_APPROVAL,
	STAGE_CACHE,
	STAGE_BEGIN,
	STAGE_QUEUE,
	STAGE_WORKER,
	STAGE_OUTPUT,
	STAGE_RECORD,
	STAGE_REPLY,
	STAGE_EXIT,
	STAGE_WAIT, /* not a stage: returned by a stage that waits for a callback */
};

/* The progress of CONTRACT. */
enum contract_state {
	CONTRACT_UNREAD, /* `spec` is empty */
	CONTRACT_READ,
	CONTRACT_NAMING, /* read; the store is asked whether the id that the caller chose is free */
};

/* Whether the store durably knows the run.  Output and results are sent only for a known run. */
enum request_known {
	UNKNOWN,
	KNOWN,
	KNOWN_BY_ID, /* also its id and content, so that the action is done only once */
};

/* Reports that were sent, one bit each. */
enum request_sent {
	SENT_ID = 1,     /* run.started, to the client */
	SENT_ANSWER = 2, /* the reply; a detached run continues after it */
	SENT_EVENT = 4,  /* the start, to subscribers of events */
};

/* The RPC error of a request that could not be carried out. */
struct request_failure {
	bool set;
	int code; /* enum rpc_code */
	const char *message;
	const char *pointer, *reason; /* of a rejected contract */
	int64_t retry_after_ms;
	const char *other_run_id; /* of a conflict: the run that has the id */
};

/* The request and its result as they are recorded: with secrets masked. */
struct request_masked {
	struct redactor redactor;
	struct job_spec spec;
	struct job_result result;
	const struct value *params; /* of a rejected contract */
	bool withheld;              /* nothing of the request may be recorded */
	bool done;                  /* private to masking.c, as are the next two */
	void (*mask)(struct request *request);
	enum stage (*then)(struct request *request);
};

struct request {
	struct list link; /* in the requests of its connection, while that is open */
	struct services *services;
	struct conn *conn;
	uint32_t msgid;
	bool is_check;
	struct caller caller;
	char *bytes;       /* `params` points into them */
	size_t held_bytes; /* counted for its caller (ceilings.h) */
	struct arena arena;
	const struct value *params;

	enum stage stage;          /* the current stage */
	unsigned entered;          /* the stages entered so far, one bit each */
	bool walking;              /* a stage runs; otherwise the request waits for a callback */
	enum kill_reason canceled; /* KILLED_NOT, or why; a cancelled request starts nothing new */
	enum request_known known;
	unsigned sent; /* enum request_sent */
	enum contract_state contract;
	struct claim_entry claim; /* on the id that the caller chose */
	unsigned begun_pending;   /* begun recordings in progress */
	uint8_t *cache_key;       /* NULL: none */
	struct job_spec spec;
	struct job_result result;
	const struct value *replayed; /* the record that this run replays, or NULL */
	bool asks_client;             /* ... its client answers the calls, not the record */
	struct blob **pins;           /* blobs that its files name */
	size_t pin_count;
	struct job_refusals *refusals; /* of a check: all faults; NULL: none, or no memory */
	struct request_failure failure;
	struct request_masked masked;
	struct budget_ticket budget;
	const struct policy *policy;
	struct policies *policies;     /* that the policy is of; held */
	struct policies *parked_under; /* held: those before an approval, or NULL */
	bool may_ask;                  /* these policies, for a verdict */
	struct pattern_book *patterns; /* held, once something of it was masked; or NULL */
	size_t texts_judged;           /* number of judged texts: the program first, then files */
	struct parking *parking;       /* set once the run was parked for approval: approvals.h */
	bool awaits_network;           /* its program is over, its connections are not told yet */
	struct networking *networking; /* of a run with a network: networking.h */
	struct runtime *runtime;
	struct chosen_packages packages; /* that the run uses (request_packages.h) */
	struct session *session;         /* of a cell, else NULL: cell.h */
	struct session_turn turn;
	uint64_t cell; /* its number in the session; 0: it has not begun */
	uint32_t from; /* the state that it began in */
	struct queue_entry queue;
	struct timer *queue_timer; /* time limit in the queue */
	struct execution execution;
	struct run_calls *calls; /* of tools; NULL: none are offered */
	struct recording begun;
	struct recording ended;
	struct buf early_output; /* notifications held back until the run is known */
	struct {
		size_t at; /* in the bytes that the program displays: what is sent */
		size_t sent;
		struct wire_scanner *scanner;
		bool begun; /* to scan the next item */
		bool waits; /* the rest is sent with the result */
	} display;          /* private to run_display.c */
	int64_t received_us, received_wall_us, entered_us;
	struct job_step steps[REQUEST_STEPS_MAX];
};

/*
 * Restores a recorded request that had not begun when the daemon ended.  It has the same id and no
 * client; its params are still in the store.  NULL: no memory.
 */
struct request *request_new_restored(struct services *services, const struct caller *caller,
	const char *run_id, size_t arena_bytes);

/*
 * Takes over `bytes` (malloc), which the message points into, and the arena with its values.
 * Without memory it frees both and returns NULL.
 */
struct request *request_new(struct services *services, struct conn *conn,
	const struct rpc_message *message, bool is_check, char *bytes, struct arena *arena);

/* Adds a step to the trace.  `note` lives in the arena, or is NULL. */
void request_step(
	struct request *request, const char *step, const char *phase, bool ok, const char *note);

/* The same for a step at an earlier time, by clock_us(). */
void request_step_at(struct request *request, int64_t at_us, const struct job_step *step);

/* Makes the reply an RPC error.  Only the first failure counts. */
void request_fail(struct request *request, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Ends a run that did not start; returns the next stage.  `reason` must live as long as the result.
 */
enum stage request_not_run(struct request *request, enum outcome outcome, const char *reason);

/* The same for a run that was cancelled before it began. */
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

/* Whether the run waits for approval: the store keeps it when the daemon ends. */
static inline bool request_is_parked(const struct request *request)
{
	return request->stage == STAGE_APPROVAL && request->parking;
}

/* Whether the request waits for a callback in this stage. */
static inline bool request_waits_in(const struct request *request, enum stage stage)
{
	return request->stage == stage && !request->walking;
}

/* Takes the policies in force and holds them until the request ends. */
void request_take_policies(struct request *request);

/* It is past the stage that asks for verdicts. */
void request_is_judged(struct request *request);

void request_release_policies(struct request *request);

/* The patterns of secrets that it is masked with: those in force when that began. */
const struct pattern_book *request_patterns(struct request *request);

/* What it wants of this host.  Needs the runtime. */
struct wish request_wish(struct request *request);
