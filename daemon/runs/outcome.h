/*
 * Derives the outcome from the facts.  It is one pure function, so every row of the table of
 * outcomes in docs/PROTOCOL.md can be tested without a jail.
 *
 * Facts come from outside the jail: clock, pipes, wait status, cgroup counters.  Messages from
 * inside (done, error) can make an outcome more exact, but never better than the facts allow.
 */
#pragma once

#include "daemon/runs/facts.h"

/* Fills outcome, ran, reason, exit code, signal, error and evidence of *result. */
void outcome_decide(struct arena *arena, const struct job_limits *limits, const struct facts *facts,
	struct job_result *result);
