/*
 * What a client may call.  `run` and `check` become travellers (pipeline.h); the others are
 * answered at once, or from a thread that reads the store, or when what they wait for happens.
 */
#pragma once

#include "daemon/door/conn.h"
#include "proto/method.h"

/* A question on its way to its answer.  Owns its message, arena and a hold on the connection. */
struct call {
	struct list link; /* in server->waits, for those that wait */
	struct server *server;
	struct conn *conn;
	uint32_t msgid;
	const struct method *method;
	struct caller caller;
	enum right right; /* of this caller to this method */
	char *message;
	size_t held; /* of its caller's share of memory */
	struct arena arena;
	const struct value *params;
	struct timer *timer;
	char run_id[RUN_ID_LEN + 1]; /* of the run that it is about, once that is known */
	bool asked_again;
};

/* A request that came, whole and well formed. */
struct arrival {
	struct server *server;
	struct conn *conn;
	const struct rpc_message *message;
	char *bytes; /* the message points into them */
	struct arena *arena;
	size_t held; /* of its caller's share of memory */
};

/*
 * Takes the bytes and the arena, and what the caller holds for them, which is let go at the
 * request's end.
 */
void methods_start(const struct arrival *arrival);

/* Each answers the call and frees it.  call_result() with NULL says that memory was short. */
void call_result(struct call *call, const struct value *result);
void call_error(struct call *call, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void call_refuse(struct call *call, const struct job_refusal *refusal); /* bad_request */

/* Waiting calls of a connection that goes. */
void methods_conn_gone(struct server *server, struct conn *conn);

/* A run in the house has come to its end. */
struct run_end {
	const char *run_id;
	uint32_t uid;               /* of its caller */
	const struct value *result; /* for the caller; or else the error */
	const struct value *kept;   /* for everybody else: as it is in the record */
	const struct rpc_error *error;
};

void methods_run_ended(struct server *server, const struct run_end *end);

/*
 * Lets a run in, or refuses it and answers: takes the bytes, the arena and what is held, as
 * methods_start() does.  NULL: refused; else it is the caller's to enter the pipeline.
 */
struct request *methods_admit(const struct arrival *arrival, bool is_check);

/* Frees a call whose message, arena and hold have become an arrival's. */
void call_handed_on(struct call *call);

/* Runs what a record tells of again, for the caller of the call; takes the call (methods_replay.c). */
void method_replay(struct call *call, const struct value *record);

/* ---- told in methods_blob.c ------------------------------------------------------------------ */

void method_blob_put(struct call *call);
void method_blob_get(struct call *call);

/* ---- told in methods_store.c: answers read from the store, on a thread ---------------------- */

void method_from_store(struct call *call);

/*
 * The store knew which run a call of `wait` or `cancel` means (call->run_id); `record` is what it
 * knew of it.  Takes the call.
 */
void method_found(struct call *call, const struct value *record);

/* ---- told in methods_approvals.c ------------------------------------------------------------ */

/* Answer approvals.approve and approvals.deny, and approvals.revoke. */
void method_decide(struct call *call);
void method_revoke(struct call *call);

/* As method_found(). */
void method_decide_found(struct call *call, const struct value *record);

/* The one run in the house that the call names and that its caller may see; NULL: none, or several. */
struct request *method_find_run(const struct call *call);
