/*
 * Calls that wait for a run in the house to end.  They are in services->waits, with the run's id, from
 * method_wait() (methods_runs.c) until one of these, or their own timer, answers them.
 */
#pragma once

#include "daemon/methods/call.h"

/* A run in the house has come to its end. */
struct run_end {
	const char *run_id;
	uint32_t uid;               /* of its caller */
	const struct value *result; /* for the caller; or else the error */
	const struct value *kept;   /* for everybody else: as it is in the record */
	const struct rpc_error *error;
};

/* Answers those that wait for it. */
void waits_run_ended(struct services *services, const struct run_end *end);

/* A run in the house has got the id that its caller gave it: those that wait for it follow. */
void waits_run_renamed(struct services *services, const char *old_id, const char *run_id);

/* Forgets those of a connection that goes. */
void waits_conn_gone(struct services *services, const struct conn *conn);
