/*
 * The parts of approvals, which know each other: approvals.c has who waits, approval_asked.c reads what
 * was asked, approval_decided.c sees the waiting end, approvals_load.c makes the waiting of another life.
 */
#pragma once

#include "daemon/request/approvals.h"

/* ---- approvals.c ---- */

/* It waits from here on, until its time is over. */
void approval_start_clock(struct request *request);
void approval_stop_clock(struct parking *parking);

/* Leaves the house without an end to record: its row in the store waits on. */
void approval_leave(struct request *request);

/* ---- approval_decided.c ---- */

/* It was not let run, and parking->word says why: it is recorded so. */
void approval_end(struct request *request);
