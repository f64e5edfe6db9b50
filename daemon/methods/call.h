/*
 * A question of a client's on its way to its answer.
 *
 * It begins as an arrival (conn.h); what asks for a run becomes a traveller (request.h),
 * everything else a call.  A call is answered at once, or from a thread that reads the store, or when
 * what it waits for happens: by one of the functions below, each of which frees it.
 */
#pragma once

#include "daemon/door/caller.h"
#include "daemon/door/conn.h"
#include "proto/method/method.h"

/* Owns its message, arena and a hold on the connection. */
struct call {
	struct list link; /* in services->waits, for those that wait */
	struct services *services;
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

/* Both take the bytes of the arrival, its arena and what is held for it. */
void arrival_refuse(const struct arrival *arrival, const struct rpc_error *error);
/* NULL: there was no memory, which is answered. */
struct call *call_new(const struct arrival *arrival, const struct method *method);

/* Each answers the call and frees it.  call_result() with NULL says that memory was short. */
void call_result(struct call *call, const struct value *result);
void call_error(struct call *call, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void call_refuse(struct call *call, const struct job_refusal *refusal); /* bad_request */

/* Frees a call that has been answered, or whose connection goes. */
void call_free(struct call *call);

/* Frees a call whose message, arena and hold have become an arrival's. */
void call_handed_on(struct call *call);
