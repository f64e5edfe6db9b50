/*
 * The parts of a worker, which know each other: worker.c has its states and what is done with it,
 * worker_slot.c what its slot says, worker_words.c what comes from the worker itself.
 */
#pragma once

#include "daemon/workers/worker.h"

/* ---- worker.c ---- */

void worker_move(struct worker *worker, enum worker_state next);

/* Lets go of its job socket, its pipes and its lifeline. */
void worker_close_ways(struct worker *worker);

/* ---- worker_slot.c ---- */

void worker_on_slot(void *owner, int events);

/* Made, says its slot, and ready, says it itself: WARM once both have been said. */
void worker_become_warm(struct worker *worker);

/* ---- worker_words.c ---- */

void worker_on_job(void *owner, int events);
void worker_on_stdout(void *owner, int events);
void worker_on_stderr(void *owner, int events);

/* What did not fit into its job socket yet. */
void worker_send_rest(struct worker *worker);
