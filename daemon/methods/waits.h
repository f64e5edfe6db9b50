/*
 * Calls that wait for a run in progress to end.  method_wait() (methods_runs.c) puts them into
 * services->waits, with the run's id.  One of these functions or the call's timer removes them.
 */
#pragma once

#include "daemon/methods/call.h"
#include "daemon/request/registry.h"

/* Answers the calls that wait for this run. */
void waits_run_ended(struct services *services, const struct run_end *end);

/* A run in progress got the id that its caller chose: updates the calls that wait for it. */
void waits_run_renamed(struct services *services, const char *old_id, const char *run_id);

/* Frees the calls of a connection that closes. */
void waits_conn_gone(struct services *services, const struct conn *conn);
