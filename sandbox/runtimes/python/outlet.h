/*
 * Buffers for the text that a program prints: one for stdout, one for stderr.  They know nothing of
 * Python.
 *
 * A program may be killed at any moment, and text in its buffers is then lost.  So text is written
 * at once while there is little of it.  When a program floods, blocks are written instead, and a
 * helper thread writes text that is older than OUTLET_TICK_MS. The thread starts when the
 * first flood leaves something behind, and ends after it.
 *
 * One lock guards both buffers.  A thread that holds it waits for nothing but the kernel, above all
 * not for the interpreter's lock.  Only one buffer holds text at a time, so that output to stdout
 * and stderr keeps its order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum outlet {
	OUTLET_STDOUT,
	OUTLET_STDERR,
	OUTLET_COUNT
};

#define OUTLET_BYTES    8192 /* of one buffer */
#define OUTLET_BURST    100  /* so many texts in a row are a flood */
#define OUTLET_QUIET_MS 5    /* a pause of so long ends the row */
#define OUTLET_TICK_MS  3    /* how often the helper looks */
#define OUTLET_IDLE     10   /* after so many looks at empty buffers the helper ends */

/* Once, in the zygote: registers handlers for forks of the program. 0, or an errno. */
int outlet_init(void);

/* In a worker: from here on text must be written in time.  Before, it waits for outlet_drain(). */
void outlet_begin(void);

/* Puts a text into the buffer if there is no need to wait. */
bool outlet_put(enum outlet which, const char *bytes, size_t len);

/*
 * Puts a text into the buffer or writes it, from *done on, and increases *done.  It may wait. 0, or
 * an errno: EINTR means that it has to be called again.
 */
int outlet_put_patiently(enum outlet which, const char *bytes, size_t len, size_t *done);

/* Whether the buffer is empty. */
bool outlet_is_empty(enum outlet which);

/*
 * Writes the buffer. 0, or an errno: EINTR means that it has to be called again.  What was not
 * written stays in the buffer.
 */
int outlet_drain(enum outlet which);

/*
 * Called after each text: whether the caller has to drain the buffer, now or soon.  False: it is
 * empty, or the helper will drain it.
 */
bool outlet_is_due(enum outlet which);

/*
 * Whether the helper will drain the buffer; starts one if there is none.  False: it cannot be
 * started now.
 */
bool outlet_is_helped(void);

/* Ends the helper, if there is one: between two cells of a session the program has one thread less. */
void outlet_dismiss_helper(void);

/* Milliseconds of a cheap clock that no program can set. */
unsigned long outlet_now_ms(void);
