/*
 * What a client may call.  `run` and `check` become travellers (pipeline.h); the others become calls
 * (call.h), each answered by a function of the table in methods.c.
 */
#pragma once

#include "daemon/methods/call.h"

/*
 * Takes the bytes and the arena, and what the caller holds for them, which is let go at the
 * request's end.
 */
void methods_start(const struct arrival *arrival);

/*
 * Lets a run in, or refuses it and answers: takes the bytes, the arena and what is held, as
 * methods_start() does.  NULL: refused; else it is the caller's to enter the pipeline.
 */
struct request *methods_admit(const struct arrival *arrival, bool is_check);

/* Runs what a record tells of again, for the caller of the call; takes the call (methods_replay.c). */
void method_replay(struct call *call, const struct value *record);

/* ---- told in methods_hello.c ----------------------------------------------------------------- */

void method_hello(struct call *call);
void method_runtimes(struct call *call);

/* ---- methods_events.c ---- */

void method_subscribe(struct call *call);

/* ---- told in methods_blob.c ------------------------------------------------------------------ */

void method_blob_put(struct call *call);
void method_blob_get(struct call *call);

/* ---- told in methods_store.c: answers read from the store, on a thread ---------------------- */

void method_from_store(struct call *call);

/* ---- told in methods_status.c ---------------------------------------------------------------- */

/* The answer to admin.status, around what the store said of itself. */
struct value *method_status(struct call *call, struct value *store_status);

/* ---- told in methods_approvals.c ------------------------------------------------------------ */

/* Answer approvals.approve and approvals.deny, and approvals.revoke. */
void method_decide(struct call *call);
void method_revoke(struct call *call);

/* As method_found(), in methods_runs.h. */
void method_decide_found(struct call *call, const struct value *record);
