/*
 * What a program prints, on its way to the kernel: a buffer each for stdout and stderr, which knows
 * nothing of Python.
 *
 * A program may be killed at any moment, and what lies in its buffers is then lost.  So what is
 * printed is written at once, as long as there is little of it.  When a program floods, blocks are
 * written instead, and a helper thread writes what has been left in the buffer for OUTLET_TICK_MS.
 * The thread is started when the first flood leaves something behind and ends after it.
 *
 * One lock guards both buffers.  Whoever holds it never waits for anything but the kernel: above all
 * not for the interpreter's lock.  Only one buffer holds something at a time, so that what went to
 * stdout before stderr leaves before it, too.
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
#define OUTLET_BURST    100  /* texts in a row before they are a flood */
#define OUTLET_QUIET_MS 5    /* after so long without a text they are no longer in a row */
#define OUTLET_TICK_MS  3    /* the helper looks so often */
#define OUTLET_IDLE     10   /* times that it looks at empty buffers before it ends */

/* Once, in the zygote: sees to forks of the program's.  0, or an errno. */
int outlet_init(void);

/* In a worker: from here on texts have to leave in time.  Before, they wait for outlet_drain(). */
void outlet_begin(void);

/* Keeps a text if that can be done without waiting. */
bool outlet_put(enum outlet which, const char *bytes, size_t len);

/*
 * Keeps or writes a text from *done on, however long that takes, and counts *done up.  0, or an
 * errno: EINTR asks to be called again.
 */
int outlet_put_patiently(enum outlet which, const char *bytes, size_t len, size_t *done);

/* Whether nothing waits in the buffer. */
bool outlet_is_empty(enum outlet which);

/* Writes what waits.  0, or an errno: EINTR asks to be called again; what was not written still waits. */
int outlet_drain(enum outlet which);

/*
 * To be asked after each text that was put: whether it has to be drained by the caller, now or soon.
 * False: nothing waits, or the helper will see to it.
 */
bool outlet_is_due(enum outlet which);

/* Whether the helper will see to what waits; one is started if there is none.  False: it cannot be had now. */
bool outlet_is_helped(void);

/* Milliseconds of a clock that costs little and that no program can set. */
unsigned long outlet_now_ms(void);
