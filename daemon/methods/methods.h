/*
 * The functions of the methods that a client may call.  proto/method/method_table.h has a row for
 * each method, with its functions.  `run` and `check` become requests (pipeline.h); every other
 * message becomes a call (call.h).
 */
#pragma once

#include "daemon/methods/call.h"
#include "daemon/request/registry.h"

struct store;

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

/* ---- the column `start`: each takes the call and answers it, perhaps later ------------------- */

/* methods_store.c: a thread reads the store with the row's `read`; then comes its `finish`. */
void method_from_store(struct call *call);

void method_hello(struct call *call);
void method_runtimes(struct call *call);
void method_wait(struct call *call);
void method_cancel(struct call *call);
void method_call_reply(struct call *call);
void method_session_open(struct call *call);
void method_session_list(struct call *call);
void method_session_rollback(struct call *call);
void method_session_close(struct call *call);
void method_session_keep(struct call *call);
void method_session_drop(struct call *call);
void method_blob_put(struct call *call);
void method_blob_get(struct call *call);
void method_subscribe(struct call *call);
void method_policies_list(struct call *call);
void method_policies_show(struct call *call);
void method_policies_test(struct call *call);
void method_decide(struct call *call); /* approvals.approve, approvals.deny */
void method_revoke(struct call *call);
void method_budgets(struct call *call);
void method_status(struct call *call);
void method_health(struct call *call);
void method_metrics(struct call *call);
void method_config_show(struct call *call);
void method_reload(struct call *call);
void method_gc(struct call *call);
void method_backup(struct call *call);
void method_audit_checkpoint(struct call *call);
void method_audit_key(struct call *call);

/* admin_ops.c */
void method_drain(struct call *call);
void method_resume(struct call *call);
void method_kill_all(struct call *call);
void method_block(struct call *call);
void method_unblock(struct call *call);
void method_reset_budget(struct call *call);

/* ---- the column `finish`: each takes the call and what `read` has found ---------------------- */

void method_wait_found(struct call *call, struct value *record);
void method_cancel_found(struct call *call, struct value *found);
void method_replay_found(struct call *call, struct value *record);
void method_approvals_found(struct call *call, struct value *page);
void method_decide_found(struct call *call, struct value *record);
void method_status_found(struct call *call, struct value *store_status);
void method_health_found(struct call *call, struct value *store_status);
void method_metrics_found(struct call *call, struct value *store_status);

/* ---- what methods share ---------------------------------------------------------------------- */

/* The run in progress that the call names and its caller may see; NULL: none, or several. */
struct request *method_find_run(const struct call *call);

/*
 * What admin.status answers.  `store_status` is what was read from the store, or NULL: then the
 * result has no `store`.
 */
struct value *status_describe(
	const struct services *services, struct value *store_status, struct arena *arena);

/* {unreadable}: takes the place of the store's status if the store cannot be read. */
struct value *store_unreadable(struct arena *arena, const struct err *err);

/* admin.reset_budget: resets the budget that its params name; false: nothing was spent there. */
bool budgets_reset_asked(struct call *call);

/* Why what has so many masks in it is not approved by this call; NULL: it is. */
const char *method_unseen(struct call *call, uint64_t masks);

/* approvals.approve and approvals.deny with `call`: decides about a call of this run. */
void method_decide_call(struct call *call, struct request *request);

/* Why the caller may start nothing now: the call is answered then, and the result is true. */
bool admission_refused(struct call *call);

/* ---- what the server calls ------------------------------------------------------------------- */

/*
 * Starts services->budgets with the runs of the last window that the store has recorded, except
 * those that were reset since.  0, or -1; call budgets_done() after both.
 */
int budgets_load(struct services *services, struct store *store, struct err *err);

/* Answers the calls that wait for this run. */
void waits_run_ended(struct services *services, const struct run_end *end);

/* A run in progress got the id that its caller chose: updates the calls that wait for it. */
void waits_run_renamed(struct services *services, const char *old_id, const char *run_id);

/* Frees the calls of a connection that closes. */
void waits_conn_gone(struct services *services, const struct conn *conn);

/* sessions->on_end: writes to the record that the session has ended.  `context`: the services. */
struct session;
void session_record_end(void *context, const struct session *session);

/* Counts for its user, agent and task what a session spends between its cells; context: struct services. */
void session_spent(void *context, const struct session *session, uint64_t cpu_us);

/* The daemon closes: answers each test of policies with the results it has so far. */
void policy_tests_close(struct services *services);
