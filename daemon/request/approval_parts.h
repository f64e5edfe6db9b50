/*
 * Internals of approvals, shared by four files:
 *
 *	approvals.c         the waiting runs
 *	approval_asked.c    reads the request of a waiting run from the store
 *	approval_decided.c  ends the waiting
 *	approvals_load.c    restores the waiting runs when the daemon starts
 */
#pragma once

#include "daemon/request/approvals.h"

/* ---- approvals.c ---- */

/* Starts the waiting, with its time limit. */
void approval_start_clock(struct request *request);
void approval_stop_clock(struct parking *parking);

/* Frees the request without recording an end; its row in the store remains. */
void approval_leave(struct request *request);

/* ---- approval_decided.c ---- */

/* Records the end of a run that may not start; parking->word says why. */
void approval_end(struct request *request);
