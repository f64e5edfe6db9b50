/*
 * The calls of tools by one run: functions of its client, which the client answers (call.reply).
 *
 *	program --JOB_CALL--> READ --> WAITS --> RECORDED --> SENT --call.reply--> ANSWERED --> OVER
 *	                     |    |    ^ |           |          |                      |
 *	                     |    |    | |           |          |                      |
 *	                     |   ASKED-' |           |          |                      |
 *	                     |     |     |           |          |                      |
 *	                     +-----+-----+-----------+----------+----------------------+
 *	                       refused, denied, too late, its client or its run has gone
 *
 *	READ      its arguments are read and compared with the tool's schema, and its policy is asked
 *	ASKED     an approver must allow it (call_approval.h), and the client knows
 *	WAITS     for its turn: calls_at_once, and the store must durably know the run
 *	RECORDED  its row must be on the disk first, since the tool has effects
 *	SENT      the client has it
 *	ANSWERED  the answer is read and compared with the tool's schema.  In a replay a call comes
 *	          here from WAITS, with the recorded answer
 *
 * Long arguments and answers are read on a thread.  The program gets an answer to every call: a
 * result or an error with a code.  The store gets a row for every call that was counted, before the
 * client sees the call, and its end before the end of the run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct execution;
struct job_refusal;
struct request;
struct run_calls;
struct value;

/* What a client answers to a call. */
struct call_answer {
	int64_t number;             /* of the call */
	const struct value *result; /* both, and the owner, stay until done() */
	const struct value *error;  /* {message, data?}; NULL: `result` counts */
	size_t bytes;               /* of the message */
	/* `why`: the answer was not what the tool promises; NULL: it was */
	void (*done)(void *owner, const struct job_refusal *why);
	void *owner;
};

enum call_reply {
	CALL_REPLY_TAKEN,   /* done() was called, or will be */
	CALL_REPLY_NO_CALL, /* the run has none of this number */
	CALL_REPLY_EARLY,   /* it has not been sent to a client */
	CALL_REPLY_LATE,    /* it has an answer, or is over */
};

/*
 * For a run whose spec has tools.  Calls of a replay are answered from the record, unless its caller
 * wants them.  NULL: no memory.
 */
struct run_calls *run_calls_new(struct request *request);

/* When the request ends.  Accepts NULL. */
void run_calls_free(struct run_calls *calls);

/* Lets the program of this execution call. */
void run_calls_prepare(struct execution *execution);

/* The store durably knows the run, so that calls may leave. */
void run_calls_known(struct run_calls *calls);

/* Gives a call its answer. */
enum call_reply run_calls_reply(struct run_calls *calls, const struct call_answer *answer);

/*
 * The program has ended: ends all its calls.  False: threads still work for some, and
 * stage_worker_ended() will be called when they are done.
 */
bool run_calls_end(struct run_calls *calls);
bool run_calls_busy(const struct run_calls *calls);

/* Adds the calls to the result and to the trace. */
void run_calls_describe(struct run_calls *calls);

/* The number of rows that the store must have, their bytes, and the places masked in them. */
uint32_t run_calls_recorded(const struct run_calls *calls);
uint64_t run_calls_stored(const struct run_calls *calls);
uint64_t run_calls_masks(const struct run_calls *calls);
