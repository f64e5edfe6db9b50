/*
 * Seccomp user notification: the slot answers and counts the calls that a worker is refused.
 *
 * The worker's filter (tiny_filter.h) sends each call that shows intent to a listener, and the call
 * waits in the kernel until the slot has answered.  The slot answers with an errno or kills the
 * run.  It lets one call go on: the fork of a session's worker that is to keep a state
 * (notify_permit()), whose arguments are all in registers.  Memory that another call points to may
 * change after we have looked.  An ordinary program makes no such call and pays nothing.
 *
 *	worker: loads its filter, sends the listener to `tell`, closes both
 *	slot:	takes the listener from `hear`, answers, forgets it with the worker
 *
 * If the slot dies, the listener is closed and the kernel answers ENOSYS; the call does not pass.
 * After the first thousand calls the slot answers one a millisecond, so that a flood costs little.
 */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/internal/slotmsg.h"

#define NOTIFY_AT_ONCE 1000 /* calls of one worker that are answered without delay */
#define NOTIFY_REST_US 1000 /* the delay between two answers after that */

/* Of the clone() that notify_permit() lets go on: a fork whose child is the slot's child. */
#define NOTIFY_FORK_FLAGS \
	((uint64_t)(CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD))

struct notify {
	int hear;     /* stays with the slot */
	int tell;     /* every worker inherits it */
	int listener; /* of the current worker, or -1 */
	unsigned answered;
	int64_t rest_until_us;
	bool is_reported; /* the daemon knows that there was a first call */
	uint32_t count;
	uint32_t others; /* calls that no row has room for */
	pid_t permitted; /* may fork once; 0: nobody */
	bool has_forked; /* by permission, and nobody has said hello since */
	struct slotmsg_refused rows[SLOTMSG_REFUSED_MAX];
};

#define NOTIFY_INIT                                     \
	{                                               \
		.hear = -1, .tell = -1, .listener = -1, \
	}

enum refusal {
	REFUSAL_NONE,     /* the call was gone before we read it */
	REFUSAL_ANSWERED, /* it was counted and got its errno */
	REFUSAL_END,      /* it was counted; the caller must kill the run */
};

int notify_open(struct notify *notify, struct err *err);

/* In the worker: hands the listener to the slot and closes it. */
int notify_send_listener(int tell, int listener, struct err *err);

/* Receives the listener that a worker has sent. */
void notify_take_listener(struct notify *notify);

/* True once for each worker, with its first call. */
bool notify_is_first(struct notify *notify);

/* Whether the next answer has to wait. */
bool notify_is_resting(const struct notify *notify);

/* Answers one waiting call. */
enum refusal notify_answer(struct notify *notify);

/* The worker's processes are dead. */
void notify_drop_listener(struct notify *notify);

/* Puts the counts into a message. */
void notify_report(const struct notify *notify, struct slotmsg *msg);

/* Permits the process to fork once, with exactly the flags of NOTIFY_FORK_FLAGS. */
void notify_permit(struct notify *notify, pid_t pid);

/* The next cell of a session begins: its calls are counted anew. */
void notify_begin_cell(struct notify *notify);

/* The worker is dead: resets everything, and closes a listener that was never received. */
void notify_forget(struct notify *notify);
