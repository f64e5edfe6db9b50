/*
 * One call of a client, from its message to its answer.
 *
 * A message begins as an arrival (conn.h).  If it asks for a run or a check, it becomes a request
 * (request.h); every other message becomes a call.  A call is answered at once, after a thread has
 * read the store, or when the event it waits for happens.  One of the functions below answers it
 * and frees it.
 */
#pragma once

#include "daemon/door/caller.h"
#include "daemon/door/conn.h"
#include "proto/method/method.h"

/* Owns its message, its arena and a reference to the connection. */
struct call {
	struct list link; /* in services->waits, while it waits for a run */
	struct services *services;
	struct conn *conn;
	uint32_t msgid;
	const struct method *method;
	struct caller caller;
	enum right right; /* of the caller, to this method */
	char *message;
	size_t held; /* bytes that count against its caller's memory */
	struct arena arena;
	const struct value *params;
	struct timer *timer;
	char run_id[RUN_ID_LEN + 1]; /* of the run that it names, once known */
	bool asked_again;
	bool store_is_optional; /* it is answered even if the store cannot be read */
};

/* Both take the bytes of the arrival, its arena and the memory counted for it. */
void arrival_refuse(const struct arrival *arrival, const struct rpc_error *error);
/* NULL: there was no memory, and the caller has been sent that error. */
struct call *call_new(const struct arrival *arrival, const struct method *method);

/* Each answers the call and frees it.  A `result` of NULL reports that memory was short. */
void call_result(struct call *call, const struct value *result);
void call_error(struct call *call, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void call_refuse(struct call *call, const struct job_refusal *refusal); /* bad_request */
void call_busy(struct call *call, int64_t retry_after_ms, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Frees a call that has been answered, or whose connection closes. */
void call_free(struct call *call);

/* Frees the call but not its message, arena and counted memory: an arrival has taken them. */
void call_handed_on(struct call *call);
