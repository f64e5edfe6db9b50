/*
 * The methods that a client may call.  `run` and `check` become requests (pipeline.h).  The others
 * become calls (call.h); a table in methods.c names the function that answers each.
 */
#pragma once

#include "daemon/methods/call.h"

/*
 * Takes the bytes, the arena and the memory that is counted for the caller.  That memory is
 * released when the request ends.
 */
void methods_start(const struct arrival *arrival);

/*
 * Accepts a run and returns its request, which the caller enters into the pipeline.  NULL: the run
 * was rejected and answered.  Takes the same memory as methods_start().
 */
struct request *methods_admit(const struct arrival *arrival, bool is_check);

/* Runs the program of a record again for the call's caller.  Takes the call (methods_replay.c). */
void method_replay(struct call *call, const struct value *record);

/* ---- methods_hello.c ---- */

void method_hello(struct call *call);
void method_runtimes(struct call *call);

/* ---- methods_events.c ---- */

void method_subscribe(struct call *call);

/* ---- methods_blob.c ---- */

void method_blob_put(struct call *call);
void method_blob_get(struct call *call);

/* ---- methods_store.c: a thread reads the answer from the store ---- */

void method_from_store(struct call *call);

/* ---- methods_status.c ---- */

/* The answer to admin.status, which includes the status of the store. */
struct value *method_status(struct call *call, struct value *store_status);

/* ---- methods_approvals.c ---- */

/* The first answers approvals.approve and approvals.deny, the second approvals.revoke. */
void method_decide(struct call *call);
void method_revoke(struct call *call);

/* As method_found() in methods_runs.h, for approve and deny. */
void method_decide_found(struct call *call, const struct value *record);
