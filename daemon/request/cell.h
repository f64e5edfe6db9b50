/*
 * A cell: a run in a session (daemon/sessions/sessions.h).  It has the params of session.open and its
 * own, waits for its turn in the session, and leaves its worker to the next cell.
 */
#pragma once

#include "daemon/request/request.h"

/*
 * In CONTRACT: finds the session that the params name, and completes the params.  0: go on, also
 * when they name none.  1: refused; *ret_refusal says why.  -1: no memory.
 */
int cell_bind(struct request *request, struct job_refusal *ret_refusal);

/*
 * Params of `run` that lead to a recorded cell, made into those of a cell of another session: without
 * what a session settles, and without the place in its own.  They share its values.  NULL: no memory.
 */
struct value *cell_params_again(
	struct arena *arena, const struct value *params, const char *session);

/* What has become of its session. */
enum cell_turn {
	CELL_FIRST,      /* its turn; it waits for a worker as every run does */
	CELL_NEXT,       /* its turn, and the session's worker is in execution->worker */
	CELL_WAITS,      /* for the cells before it; session_turn tells */
	CELL_CROWDED,    /* too many cells wait */
	CELL_NOT_KEPT,   /* the state that it asks for is not kept */
	CELL_NOT_ATOMIC, /* nor the one to which it would go back */
	CELL_ENDED,      /* its session has ended */
};

/* In QUEUE. */
enum cell_turn cell_enter(struct request *request);

/* Its turn has come, or its session has ended. */
enum cell_turn cell_resume(struct request *request);

/* The worker is about to get it: numbers the cell, and tells the execution. */
void cell_begin(struct request *request);

/* Its execution has ended: the session keeps the worker, or ends with it.  Describes it in the result. */
void cell_over(struct request *request);

/* The output breaks its contract, which is seen after that: an atomic cell is undone. */
void cell_output_broke(struct request *request);

/* The request ends, or leaves the queue. */
void cell_leave(struct request *request);

/* Lets go of the session. */
void cell_unbind(struct request *request);
