/*
 * The methods that a client may call, one row for each.  A new method is a row here, its schemas in
 * proto/method/schemas/, and the functions that the row names.
 *
 *	X(ID, name, who, params, result, start, read, finish)
 *
 * ID      enum method_id has METHOD_<ID>
 * who     METHOD_<who>: the rights of each role (method.h)
 * params  the file with the schema of its params
 * result  the file with the schema of its result, or NULL
 * start   what the daemon calls first (daemon/methods/methods.h).  NULL: the message becomes a
 *         request, which goes through the stages (daemon/request/pipeline.c).  method_from_store: a
 *         thread calls `read`
 * read    what reads the store for it (store/answers.c), or NULL.  OFFLINE(): cectl can call it
 * too,
 *         for a copy of a store, without a daemon; ONLINE(): only the daemon does
 * finish  what the daemon calls with what has been read.  NULL: that is the result
 *
 * proto, store and daemon use the columns that concern them, and never look at the others.
 */
#pragma once

/* clang-format off */
#define METHODS(X)                                                                                 \
	X(HELLO,              "hello",              ALL,         "hello.json", NULL,               \
		method_hello, NULL, NULL)                                                          \
	X(RUN,                "run",                USER,        "run.json", "result.json",        \
		NULL, NULL, NULL)                                                                  \
	X(CHECK,              "check",              USER,        "run.json", NULL,                 \
		NULL, NULL, NULL)                                                                  \
	X(WAIT,               "wait",               OWNER_ADMIN, "wait.json", "result.json",       \
		method_wait, ONLINE(answer_run), method_wait_found)                                \
	X(CANCEL,             "cancel",             OWNER_ADMIN, "cancel.json", NULL,              \
		method_cancel, ONLINE(answer_name), method_cancel_found)                           \
	X(CALL_REPLY,         "call.reply",         USER,        "call.reply.json", NULL,          \
		method_call_reply, NULL, NULL)                                                     \
	X(SESSION_OPEN,       "session.open",       USER,        "session.open.json", NULL,        \
		method_session_open, NULL, NULL)                                                   \
	X(SESSION_LIST,       "session.list",       OWNER_ADMIN, "none.json", NULL,                \
		method_session_list, NULL, NULL)                                                   \
	X(SESSION_ROLLBACK,   "session.rollback",   USER,        "session.rollback.json", NULL,    \
		method_session_rollback, NULL, NULL)                                               \
	X(SESSION_KEEP,       "session.keep",       USER,        "session.keep.json", NULL,        \
		method_session_keep, NULL, NULL)                                                   \
	X(SESSION_DROP,       "session.drop",       USER,        "session.drop.json", NULL,        \
		method_session_drop, NULL, NULL)                                                   \
	X(SESSION_CLOSE,      "session.close",      OWNER_ADMIN, "session.close.json", NULL,       \
		method_session_close, NULL, NULL)                                                  \
	X(RUNTIMES,           "runtimes",           ALL,         "none.json", NULL,                \
		method_runtimes, NULL, NULL)                                                       \
	X(BLOB_PUT,           "blob.put",           USER,        "blob.put.json", NULL,            \
		method_blob_put, NULL, NULL)                                                       \
	X(BLOB_GET,           "blob.get",           USER,        "blob.get.json", NULL,            \
		method_blob_get, NULL, NULL)                                                       \
	X(RUNS_LIST,          "runs.list",          OWNER_ADMIN, "runs.list.json", NULL,           \
		method_from_store, OFFLINE(answer_list), NULL)                                     \
	X(RUNS_GET,           "runs.get",           OWNER_ADMIN, "run_id.json", NULL,              \
		method_from_store, OFFLINE(answer_get), NULL)                                      \
	X(RUNS_OUTPUT,        "runs.output",        OWNER_ADMIN, "runs.output.json", NULL,         \
		method_from_store, OFFLINE(answer_output), NULL)                                   \
	X(RUNS_REPLAY,        "runs.replay",        OWNER_ADMIN, "runs.replay.json", NULL,         \
		method_from_store, ONLINE(answer_replay), method_replay_found)                     \
	X(STATS,              "stats",              OWNER_ADMIN, "stats.json", NULL,               \
		method_from_store, OFFLINE(answer_stats), NULL)                                    \
	X(EVENTS_SUBSCRIBE,   "events.subscribe",   WATCHER,     "events.subscribe.json", NULL,    \
		method_subscribe, NULL, NULL)                                                      \
	X(POLICIES_LIST,      "policies.list",      ALL,         "none.json", NULL,                \
		method_policies_list, NULL, NULL)                                                  \
	X(POLICIES_SHOW,      "policies.show",      ALL,         "policies.show.json", NULL,       \
		method_policies_show, NULL, NULL)                                                  \
	X(POLICIES_TEST,      "policies.test",      OWNER_ADMIN, "policies.test.json", NULL,       \
		method_policies_test, NULL, NULL)                                                  \
	X(APPROVALS_LIST,     "approvals.list",     APPROVER,    "approvals.list.json", NULL,      \
		method_from_store, ONLINE(answer_approvals), method_approvals_found)               \
	X(APPROVALS_APPROVE,  "approvals.approve",  APPROVER,    "approvals.approve.json", NULL,   \
		method_decide, ONLINE(answer_run), method_decide_found)                            \
	X(APPROVALS_DENY,     "approvals.deny",     APPROVER,    "approvals.deny.json", NULL,      \
		method_decide, ONLINE(answer_run), method_decide_found)                            \
	X(APPROVALS_REVOKE,   "approvals.revoke",   APPROVER,    "approvals.revoke.json", NULL,    \
		method_revoke, NULL, NULL)                                                         \
	X(ADMIN_STATUS,       "admin.status",       ADMIN,       "none.json", NULL,                \
		method_status, ONLINE(answer_status), method_status_found)                         \
	X(HEALTH,             "health",             ALL,         "none.json", NULL,                \
		method_health, ONLINE(answer_status), method_health_found)                         \
	X(ADMIN_METRICS,      "admin.metrics",      ADMIN,       "none.json", NULL,                \
		method_metrics, ONLINE(answer_status), method_metrics_found)                       \
	X(CONFIG_SHOW,        "config.show",        ADMIN,       "none.json", NULL,                \
		method_config_show, NULL, NULL)                                                    \
	X(ADMIN_ACTS,         "admin.acts",         ADMIN,       "acts.json", NULL,                \
		method_from_store, OFFLINE(answer_acts), NULL)                                     \
	X(ADMIN_DRAIN,        "admin.drain",        ADMIN,       "admin_op.json", NULL,            \
		method_drain, NULL, NULL)                                                          \
	X(ADMIN_RESUME,       "admin.resume",       ADMIN,       "admin_op.json", NULL,            \
		method_resume, NULL, NULL)                                                         \
	X(ADMIN_RELOAD,       "admin.reload",       ADMIN,       "admin_op.json", NULL,            \
		method_reload, NULL, NULL)                                                         \
	X(ADMIN_KILL_ALL,     "admin.kill_all",     ADMIN,       "admin_op.json", NULL,            \
		method_kill_all, NULL, NULL)                                                       \
	X(ADMIN_BLOCK,        "admin.block",        ADMIN,       "block.json", NULL,               \
		method_block, NULL, NULL)                                                          \
	X(ADMIN_UNBLOCK,      "admin.unblock",      ADMIN,       "block.json", NULL,               \
		method_unblock, NULL, NULL)                                                        \
	X(ADMIN_GC,           "admin.gc",           ADMIN,       "admin.gc.json", NULL,            \
		method_gc, NULL, NULL)                                                             \
	X(ADMIN_RESET_BUDGET, "admin.reset_budget", ADMIN,       "reset_budget.json", NULL,        \
		method_reset_budget, NULL, NULL)                                                   \
	X(BUDGETS_LIST,       "budgets.list",       OWNER_ADMIN, "budgets.json", NULL,             \
		method_budgets, NULL, NULL)                                                        \
	X(AUDIT_BACKUP,       "audit.backup",       ADMIN,       "audit.backup.json", NULL,        \
		method_backup, NULL, NULL)                                                         \
	X(AUDIT_EXPORT,       "audit.export",       ADMIN,       "audit.export.json", NULL,        \
		method_from_store, OFFLINE(answer_export), NULL)                                   \
	X(AUDIT_VERIFY,       "audit.verify",       ADMIN,       "audit.verify.json", NULL,        \
		method_from_store, OFFLINE(answer_verify), NULL)                                   \
	X(AUDIT_CHECKPOINT,   "audit.checkpoint",   ADMIN,       "none.json", NULL,                \
		method_audit_checkpoint, NULL, NULL)                                               \
	X(AUDIT_KEY,          "audit.key",          ADMIN,       "none.json", NULL,                \
		method_audit_key, NULL, NULL)
/* clang-format on */
