/*
 * Calls that wait for a run in the house to end.  They are in services->waits, with the run's id, from
 * method_wait() (methods_runs.c) until one of these, or their own timer, answers them.
 */
#pragma once

#include "daemon/methods/call.h"
#include "daemon/request/registry.h"

/* Answers those that wait for it. */
void waits_run_ended(struct services *services, const struct run_end *end);

/* A run in the house has got the id that its caller gave it: those that wait for it follow. */
void waits_run_renamed(struct services *services, const char *old_id, const char *run_id);

/* Forgets those of a connection that goes. */
void waits_conn_gone(struct services *services, const struct conn *conn);
