/*
 * What clients ask about one run: to wait for its end, or to cancel it.  What the house does not know
 * by the name they give, the store may.
 */
#pragma once

#include "daemon/methods/call.h"

void method_wait(struct call *call);
void method_cancel(struct call *call);

/* The one run in the house that the call names and that its caller may see; NULL: none, or several. */
struct request *method_find_run(const struct call *call);

/*
 * The store knew which run a call of `wait` or `cancel` means (call->run_id); `record` is what it
 * knew of it.  Takes the call.
 */
void method_found(struct call *call, const struct value *record);

/* A run in the house has come to its end. */
struct run_end {
	const char *run_id;
	uint32_t uid;               /* of its caller */
	const struct value *result; /* for the caller; or else the error */
	const struct value *kept;   /* for everybody else: as it is in the record */
	const struct rpc_error *error;
};

/* Answers those that wait for it. */
void methods_run_ended(struct server *server, const struct run_end *end);

/* Waiting calls of a connection that goes. */
void methods_conn_gone(struct server *server, struct conn *conn);
