/*
 * One function per stage, each in its own file.  A stage reads what earlier stages left in the
 * request, adds its part, and returns the next stage.
 */
#pragma once

#include "daemon/request/request.h"

enum stage stage_contract(struct request *request); /* params -> a job_spec, or a refusal */
enum stage stage_repeat(struct request *request);   /* an id: done already, or in progress? */
enum stage stage_budget(struct request *request);   /* what its caller may still spend */
enum stage stage_policy(struct request *request);   /* checks the program */
enum stage stage_approval(struct request *request); /* approval by a person, if the policy asks */
enum stage stage_cache(struct request *request);    /* a recorded result instead of a run */
enum stage stage_begin(struct request *request);    /* records an id before its run begins */
enum stage stage_queue(struct request *request);    /* waits for a worker */
enum stage stage_worker(struct request *request);   /* runs the job in a jail */
enum stage stage_output(struct request *request);   /* checks the output */
enum stage stage_record(struct request *request);   /* writes the record before the reply */
enum stage stage_reply(struct request *request);    /* reports the end */

/* ---- also called by the table in pipeline.c ------------------------------------------------- */

void stage_contract_leave(struct request *request);  /* releases its blobs */
void stage_repeat_cancel(struct request *request);   /* stops waiting for another run with its id */
void stage_policy_cancel(struct request *request);   /* withdraws its question to an inspector */
void stage_approval_cancel(struct request *request); /* ends the waiting, if nothing else has */
void stage_approval_leave(struct request *request);
void stage_queue_cancel(struct request *request); /* leaves the queue without a worker */
void stage_queue_leave(struct request *request);
/* For all runtimes, when a caller may run one more. */
void stage_queue_serve_all(struct services *services);
void stage_worker_cancel(struct request *request);
void stage_worker_leave(struct request *request);

/* ---- called by other files ------------------------------------------------------------------- */

/* The limits of what this caller may ask for with these params; `room` holds them if need be. */
const struct job_bounds *stage_contract_bounds(const struct services *services,
	const struct caller *caller, const struct value *params, struct job_bounds *room);

/* Returns whether an outcome counts as a failed attempt. */
enum budget_end budget_end_of(enum outcome outcome);

/* Releases what the run holds while it waits for approval; stage_budget() takes it again. */
void stage_budget_pause(struct request *request);

/* Counts what the run has spent against its budgets.  May be called again. */
void stage_budget_settle(struct request *request);

/* Records the run as begun.  If `durable`, request->known is set when that is on the disk. */
void stage_record_begun(struct request *request, bool durable);

/*
 * Call it when the record is written or has failed: settles the requests that wait for the same id.
 */
void stage_repeat_over(struct request *request);

/* Call it when the begun record is on the disk, or with `err` when it could not be written. */
void stage_begin_recorded(struct request *request, const struct err *err);

/* Returns the key under which the result may be reused; NULL: it may not. */
const uint8_t *stage_cache_key(const struct request *request);

/* Fills in the columns of the store; they borrow from the request. */
void stage_record_describe(struct request *request, struct store_run *run);

/*
 * The run stays in the store, waiting for approval, when the daemon ends.  Gives up its id, and
 * ends the requests that wait for it.
 */
void stage_repeat_waits_on(struct request *request);

/*
 * While the program is being checked: takes a worker that nobody waits for, if there is one to
 * spare, and lets it compile the program behind a gate.  stage_worker() opens the gate.
 */
void stage_queue_ahead(struct request *request);

/* Gives that worker up, unused. */
void stage_queue_drop_ahead(struct request *request);

/* Its program has ended, and no thread works for its calls of tools any more. */
void stage_worker_ended(struct request *request);

/* Sets up the execution, whose worker is still to be chosen. */
void stage_worker_prepare(struct request *request);

/* turn->on_turn of a cell: its turn has come, or its session has ended. */
void stage_queue_on_turn(struct session_turn *turn);

/* Gives turns to waiting requests, after a worker became ready or a caller may run one more. */
void stage_queue_serve(struct services *services, struct runtime *runtime);
