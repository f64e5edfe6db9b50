/*
 * Functions that the files of a worker share.  worker.c has its states and operations,
 * worker_slot.c handles messages from its slot, and worker_words.c handles data from the worker
 * itself.
 */
#pragma once

#include "daemon/workers/worker.h"

/* ---- worker.c ---- */

void worker_move(struct worker *worker, enum worker_state next);

/* Closes its job socket, its pipes and its lifeline. */
void worker_close_ways(struct worker *worker);

/* ---- worker_slot.c ---- */

void worker_on_slot(void *owner, int events);

/* Enters WARM once the slot has reported it made and the worker has reported itself ready. */
void worker_become_warm(struct worker *worker);

/* ---- worker_words.c ---- */

void worker_on_job(void *owner, int events);
void worker_on_stdout(void *owner, int events);
void worker_on_stderr(void *owner, int events);

/* Sends the rest of the job that did not fit into the socket. */
void worker_send_rest(struct worker *worker);
