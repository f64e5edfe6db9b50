/*
 * Makes the nth allocation, read or write of this thread fail, by way of the linker's --wrap.
 *
 * A test asks for it with the word FAULT in its ced_unit_test() line.  Only calls made by our
 * own code are seen; libraries and libc keep their own.  The loop runs its body with the first
 * call failing, then the second, and ends after a run in which none was left to fail:
 *
 *   FAULT_LOOP (FAULT_ALLOC) {
 *           int r = value_parse(bytes, len, &value, &err);
 *           CHECK(r == 0 || fault_hit());
 *   }
 *
 * Leaving the body by `return` or `break` takes the fault away.
 */

#ifndef CED_TESTS_FAULT_H
#define CED_TESTS_FAULT_H

#include <stdbool.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_ALLOC,       /* malloc, calloc, realloc, strdup, strndup: NULL and ENOMEM */
	FAULT_READ,        /* read, recvmsg: -1 and EIO */
	FAULT_WRITE,       /* write, sendmsg: -1 and EIO */
	FAULT_INTERRUPT,   /* read, write, recvmsg, sendmsg: -1 and EINTR */
	FAULT_SHORT_READ,  /* read: one byte only */
	FAULT_SHORT_WRITE, /* write: one byte only */
};

/* Makes the nth call from now fail, once; nth starts at 1. */
void fault_arm(enum fault_kind kind, unsigned nth);

/* No call fails any more.  fault_hit() keeps its answer. */
void fault_disarm(void);

/* Returns whether a call has failed since the last fault_arm(). */
bool fault_hit(void);

/* Used by FAULT_LOOP only. */
struct fault_loop {
	enum fault_kind kind;
	unsigned nth;
};

bool fault_again(struct fault_loop *loop);
void fault_loop_done(struct fault_loop *loop);

#define FAULT_LOOP(fault)                                                                        \
	for (__attribute__((cleanup(fault_loop_done))) struct fault_loop fault_loop = { (fault), \
		     0 };                                                                        \
		fault_again(&fault_loop);)

#endif
