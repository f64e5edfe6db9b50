/*
 * One prototype per stage; each is told in its own file.  A stage finds what earlier ones left in
 * the request, adds one thing, and names the next room.
 */
#pragma once

#include "daemon/request.h"

enum stage stage_contract(struct request *request); /* params -> a job_spec, or a refusal */
enum stage stage_policy(struct request *request);   /* the program -> a verdict */
enum stage stage_queue(struct request *request);    /* waits for a turn: fair and bounded */
enum stage stage_worker(struct request *request);   /* runs the job in a jail */
enum stage stage_output(struct request *request);   /* what came out against what was promised */
enum stage stage_record(struct request *request);   /* on the disk before it is told */
enum stage stage_reply(struct request *request);    /* told to whoever still listens */

/* Puts the run on the record as begun; request->known follows when `durable`. */
void stage_record_begun(struct request *request, bool durable);

/* A worker got warm, or a caller may run one more: give turns to those that wait. */
void stage_queue_serve(struct server *server, struct runtime *runtime);

/* Out of the queue without a worker. */
void stage_queue_give_up(struct request *request, enum outcome outcome);
