/*
 * One prototype per stage; each is told in its own file.  A stage finds what earlier ones left in
 * the request, adds one thing, and names the next room.
 */
#pragma once

#include "daemon/request/request.h"

enum stage stage_contract(struct request *request); /* params -> a job_spec, or a refusal */
enum stage stage_repeat(struct request *request);   /* an id: is this done, or being done? */
enum stage stage_budget(struct request *request);   /* what its caller may still spend */
enum stage stage_policy(struct request *request);   /* the program -> a verdict */
enum stage stage_cache(struct request *request);    /* a known result instead of a run */
enum stage stage_mark(struct request *request);     /* an id is on the disk before it runs */
enum stage stage_approval(struct request *request); /* a person's word, where the policy asks */
enum stage stage_queue(struct request *request);    /* waits for a turn: fair and bounded */
enum stage stage_worker(struct request *request);   /* runs the job in a jail */
enum stage stage_output(struct request *request);   /* what came out against what was promised */
enum stage stage_record(struct request *request);   /* on the disk before it is told */
enum stage stage_reply(struct request *request);    /* told to whoever still listens */

/* ---- what the table in pipeline.c calls beside ------------------------------------------------ */

void stage_contract_leave(struct request *request); /* the contents that its files name */
void stage_repeat_cancel(struct request *request);  /* it waits for another with its id no longer */
void stage_policy_cancel(struct request *request);  /* its question to an inspector is withdrawn */
void stage_queue_cancel(struct request *request);   /* out of the queue without a worker */
void stage_queue_leave(struct request *request);
void stage_queue_serve_all(
	struct services *services); /* its caller may run one more, in any language */
void stage_worker_cancel(struct request *request);
void stage_worker_leave(struct request *request);

/* ---- what others call ------------------------------------------------------------------------- */

/* Whether an end is a failed attempt. */
enum budget_end budget_end_of(enum outcome outcome);

/* It is about to wait for a person: it holds nothing until stage_budget() meets it again. */
void stage_budget_pause(struct request *request);

/* What it came to counts against its budgets.  May be called again. */
void stage_budget_settle(struct request *request);

/* Puts the run on the record as begun; request->known follows when `durable`. */
void stage_record_begun(struct request *request, bool durable);

/* Its record is on the disk, or could not be: those that wait for its id get what they can. */
void stage_repeat_over(struct request *request);

/* The begun record is on the disk; with `err`, it is not. */
void stage_mark_begun(struct request *request, const struct err *err);

/* Where its result may be found again; NULL: nowhere. */
const uint8_t *stage_cache_key(const struct request *request);
/* What the columns of the store want of it; borrowed. */
void stage_record_describe(struct request *request, struct store_run *run);

/* It leaves without an end, and so do those that wait for what comes of its id. */
void stage_repeat_waits_on(struct request *request);

/* Whether the policy reads this file as it reads the program. */
bool stage_policy_reads(const struct request *request, const struct job_input_file *file);

/* Whether it finds something where the environment has a variable of this name. */
bool stage_policy_reads_variable(const struct request *request, const char *name);

/* A worker got warm, or a caller may run one more: give turns to those that wait. */
void stage_queue_serve(struct services *services, struct runtime *runtime);
