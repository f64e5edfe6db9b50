/*
 * What a worker was refused, heard by its slot.
 *
 * The worker's filter (tiny_filter.h) asks a listener about each call that tells of intent: it waits
 * in the kernel until the slot has answered.  The answer is always an errno, or the end of the run:
 * never "go on", since what a call's pointers point to can change after we have looked.  An ordinary
 * program makes no such call and pays nothing.
 *
 *	worker: loads its filter, sends the listener to `tell`, closes both
 *	slot:	takes the listener from `hear`; answers; forgets it with the worker
 *
 * A slot that dies takes the listener with it, and the kernel answers ENOSYS in its place; it does not
 * let the call pass.  A program that asks without end is counted, and answered once a millisecond
 * after the first thousand times, so that it costs us next to nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/internal/slotmsg.h"

#define HEARING_AT_ONCE 1000 /* answered without delay, in a worker's life */
#define HEARING_REST_US 1000 /* between two answers after that */

struct hearing {
	int hear;     /* stays with the slot */
	int tell;     /* every worker inherits it */
	int listener; /* of the worker there is, or -1 */
	unsigned answered;
	int64_t rest_until_us;
	bool told;
	uint32_t count;
	uint32_t others;
	struct slotmsg_refused rows[SLOTMSG_REFUSED_MAX];
};

#define HEARING_INIT                                    \
	{                                               \
		.hear = -1, .tell = -1, .listener = -1, \
	}

enum refusal {
	REFUSAL_NONE, /* it had gone when we came */
	REFUSAL_TOLD, /* it was counted and got its errno */
	REFUSAL_END,  /* it is counted; the run is to be killed, and gets no answer */
};

int hearing_open(struct hearing *hearing, struct err *err);
void hearing_close(struct hearing *hearing);

/* In the worker: hands the listener to the slot and closes it. */
int hearing_send(int tell, int listener, struct err *err);

/* Takes the listener that has come. */
void hearing_take(struct hearing *hearing);

/* True once in a worker's life, with the first call. */
bool hearing_first(struct hearing *hearing);

/* Whether nothing is to be answered just now. */
bool hearing_rest(const struct hearing *hearing);

/* Answers one call that the listener has. */
enum refusal hearing_answer(struct hearing *hearing);

/* Nobody is left to be heard. */
void hearing_over(struct hearing *hearing);

/* Puts everything that was counted into a message. */
void hearing_tell(const struct hearing *hearing, struct slotmsg *msg);

/* The worker is dead: forgets it, and a listener of its that was never taken. */
void hearing_forget(struct hearing *hearing);
